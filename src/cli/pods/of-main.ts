// Questions that the kubelet's main thread answers. A command shows less without the answer, and does not fail.

import { AnswerError } from "../client.js";

/** undefined: main does not respond, or the kubelet is older than the route. Events and statuses say less. */
export async function ofMain<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AnswerError && (error.status === 503 || error.status === 404)) return undefined;
    throw error;
  }
}
