// Runs a program of the machine for doctor and support-bundle: it ends at its deadline, and what it prints is bounded.

import type { Clock } from "../../shared/base/clock/clock.js";
import { ProgramFailedError } from "../../shared/io/exec/program-errors.js";
import { runProgram } from "../../shared/io/exec/run-program.js";

export interface ToolOptions {
  clock: Pick<Clock, "after">;
  signal?: AbortSignal | undefined;
  deadlineMs?: number;
  /** Limit of standard output; a program that prints more is ended, and its run has failed. */
  bytes?: number;
  /** Standard output counts whatever the exit code is. */
  anyExit?: boolean;
}

const DEADLINE_MS = 10_000;
const OUTPUT_BYTES = 1024 * 1024;

/** Standard output. Rejects with the program's name and the reason. */
export async function runTool(command: string, args: readonly string[], options: ToolOptions): Promise<string> {
  const { clock, signal, deadlineMs = DEADLINE_MS, bytes = OUTPUT_BYTES, anyExit = false } = options;
  try {
    const env = [{ name: "LC_ALL", value: "C" }];
    const run = { command, args, env, clock, deadlineMs, outputLimit: bytes };
    return await runProgram(signal === undefined ? run : { ...run, signal });
  } catch (error) {
    if (!(error instanceof ProgramFailedError)) throw error;
    if (anyExit && error.failure === "ended") return error.stdout;
    throw new Error(`${command} ${error.message}`, { cause: error });
  }
}

/** undefined: it is not there, or failed. */
export function toolOrNothing(
  command: string,
  args: readonly string[],
  options: ToolOptions,
): Promise<string | undefined> {
  return runTool(command, args, options).catch(() => undefined);
}
