// Entry of the helper process for volumes that may hang (shared/node/volume-calls): makes one call at a time and sends
// its result. Its parent kills it when a call takes too long. Invariant: it does not outlive its parent, unless the
// kernel holds it in a call.

import { SubPathError } from "../../shared/node/volume-calls/errors.js";
import type { HelperAnswer, HelperError, HelperRequest } from "../../shared/node/volume-calls/operations.js";
import { perform } from "../../shared/node/volume-calls/perform.js";
import { changeOwnership } from "./ownership/change-ownership.js";

const operations = { ...perform, changeOwnership };

function errorOf(error: unknown): HelperError {
  if (error instanceof SubPathError)
    return { message: error.message, subPath: { path: error.subPath, problem: error.problem } };
  if (!(error instanceof Error)) return { message: String(error) };
  return { message: error.message, code: "code" in error ? String(error.code) : undefined };
}

async function answerTo({ name, request }: HelperRequest): Promise<HelperAnswer> {
  try {
    const operation = operations[name] as (request: HelperRequest["request"]) => unknown;
    return { result: (await operation(request)) as Extract<HelperAnswer, { result: unknown }>["result"] };
  } catch (error) {
    return { error: errorOf(error) };
  }
}

process.on("message", (request) => {
  void answerTo(request as HelperRequest).then((answer) => process.send?.(answer));
});
// Not exit(), which waits for a call under way.
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
