// Errors that are defects, before the log exists. Node would print the source line of each, and a line of the bundle
// has up to 222 KB.

import { writeSync } from "node:fs";
import { inspect } from "node:util";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { escapedLines } from "../../../shared/base/text/printable.js";

const STDERR = 2;
/** Message, stack and causes of one defect, characters. */
const MAX_TEXT = 16 * 1024;

/** From now on an uncaught error ends the process with its message or stack, until the log has its own listener. */
export function reportEarlyErrors(): void {
  const onUncaught = (error: unknown): void => {
    if (process.listenerCount("uncaughtException") > 1) return;
    endWith(error);
  };
  process.on("uncaughtException", onUncaught);
  process.on("unhandledRejection", onUncaught);
}

/**
 * The last words of a process without a log: one line for the operator or the output, the stack for a defect.
 *
 * @internal
 */
export function earlyErrorText(error: unknown): string {
  // A full disk below `kubelet --help >file`, for example.
  if (error instanceof Error && "syscall" in error && error.syscall === "write")
    return `cannot write the output: ${escapedLines(error.message)}\n`;
  if (error instanceof OperatorError) return `${escapedLines(error.message)}\n`;
  const text = escapedLines(inspect(error));
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return `kubelet: a defect, please report it with this stack: ${shown}\n`;
}

function endWith(error: unknown): never {
  // A reader that has enough (`kubelet --help | head`) closes the pipe.
  const isClosedPipe = errorCode(error) === "EPIPE";
  try {
    if (!isClosedPipe) writeSync(STDERR, earlyErrorText(error));
  } catch {
    // Standard error is closed, too.
  }
  process.exit(isClosedPipe ? process.exitCode : 1);
}
