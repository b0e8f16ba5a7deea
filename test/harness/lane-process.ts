// The process of a lane: it runs the test files that the harness sends, one at a time, in the lane's network namespace
// and environment.
// Invariant: it ends with the harness, however that ends: the channel closes, and the running file is stopped.

import { messageOf } from "../../tools/standalone/problem.js";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { brokenFile } from "./file-result.js";
import type { LaneOrder, LaneReport } from "./lane.js";
import { runFile } from "./run-file.js";

const stop = new AbortController();
process.on("disconnect", () => {
  stop.abort();
  process.exit(1);
});
// Ctrl-C reaches all processes of the terminal; the harness decides when this one ends.
process.on("SIGINT", () => undefined);

process.on("message", ({ file, timeoutMs, isShown }: LaneOrder) => {
  const print = (text: string): void => {
    if (isShown) report({ output: text });
  };
  runFile(file, { timeoutMs: timeoutMs * PATIENCE, signal: stop.signal, print }).then(
    (result) => report({ result }),
    (error: unknown) => report({ result: brokenFile(`✖ the test runner failed: ${messageOf(error)}`) }),
  );
});
report({ isReady: true });

function report(message: LaneReport): void {
  // A harness that ended a moment ago needs no report.
  if (process.connected) process.send?.(message);
}
