// Stops and removals are repeated until they are seen done: what is no longer there has been stopped or removed already.
import { isNotFound } from "../../shared/cri/errors.js";

export async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
