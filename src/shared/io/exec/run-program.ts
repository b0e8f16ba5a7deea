// Runs a program once: input on its standard input, result from its standard output. Used for credential plugins of
// image registries and of the API server, and for drivers and tools of volumes.
// Invariant: the program and its children end at the deadline, on abort, and when they print too much. Its standard
// output may be secret and is in no message.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock } from "../../base/clock/clock.js";
import { errorCode } from "../../base/errors/error-code.js";
import { abortReason, asError } from "../../base/errors/thrown.js";
import { faultPoint } from "../../base/faults/fault-points.js";
import { ProgramFailedError } from "./program-errors.js";

/** Upstream's deadline for credential provider plugins; client-go sets none, and would wait for ever. */
const DEADLINE_MS = 60_000;
export const OUTPUT_LIMIT = 1024 * 1024;
/** Most characters of standard error that an error's message shows. */
const STDERR_SHOWN = 1024;

export interface ProgramRun {
  /** A path, or a name that is looked for in PATH. */
  command: string;
  args: readonly string[];
  /** On top of the kubelet's own; the last of a name wins. */
  env: readonly { name: string; value: string }[];
  /** Absent: standard input is empty. */
  input?: string;
  clock: Pick<Clock, "after">;
  /** Deadline of the run. */
  deadlineMs?: number;
  /** Most bytes of standard output. */
  outputLimit?: number;
  signal?: AbortSignal | undefined;
}

/** Its standard output, once it ended with 0. Rejects with ProgramFailedError, or the signal's reason. */
export async function runProgram(run: ProgramRun): Promise<string> {
  const { input = "", clock, signal, deadlineMs = DEADLINE_MS, outputLimit = OUTPUT_LIMIT } = run;
  signal?.throwIfAborted();
  const child = started(run);
  return await new Promise<string>((resolve, reject) => {
    const output: Buffer[] = [];
    let size = 0;
    let stderr = "";
    let over = false;
    const settle = (act: () => void): void => {
      if (over) return;
      over = true;
      timer.cancel();
      signal?.removeEventListener("abort", onAbort);
      act();
    };
    const giveUp = (error: Error): void =>
      settle(() => {
        killGroup(child.pid);
        child.stdout.destroy();
        child.stderr.destroy();
        // A program in a call of the kernel that cannot be ended: it must not keep a command from its end.
        child.unref();
        reject(error);
      });
    const onAbort = (): void => giveUp(abortReason(signal));
    const timer = clock.after(deadlineMs, () =>
      giveUp(new ProgramFailedError("slow", `gave no response within ${deadlineMs / 1000} s, killed`)),
    );
    signal?.addEventListener("abort", onAbort, { once: true });
    child.stdout.on("data", (block: Buffer) => {
      size += block.length;
      if (size <= outputLimit) output.push(block);
      else giveUp(new ProgramFailedError("flood", `printed more than ${outputLimit} bytes, killed`));
    });
    child.stderr.on("data", (block: Buffer) => {
      if (stderr.length < STDERR_SHOWN) stderr = (stderr + block.toString("utf8")).slice(0, STDERR_SHOWN);
    });
    // The program exited without reading its input: its exit status is more useful than the broken pipe.
    child.stdin.on("error", () => undefined);
    child.on("error", (error) => settle(() => reject(notRun(error))));
    child.on("close", (code, killedBy) => {
      try {
        faultPoint("child-exit");
        const stdout = Buffer.concat(output).toString("utf8");
        if (code === 0) settle(() => resolve(stdout));
        else settle(() => reject(badEnd(code, killedBy, { stdout, said: stderr.trim() })));
      } catch (defect) {
        giveUp(asError(defect));
      }
    });
    child.stdin.end(input);
  });
}

/** @throws ProgramFailedError */
function started({ command, args, env }: ProgramRun): ChildProcessWithoutNullStreams {
  try {
    return spawn(command, args, {
      env: { ...process.env, ...Object.fromEntries(env.map(({ name, value }) => [name, value])) },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true, // a process group of its own: its children are killed with it
    });
  } catch (error) {
    // More arguments and variables than the kernel takes, for one.
    throw notRun(asError(error));
  }
}

function notRun(error: Error): ProgramFailedError {
  const code = errorCode(error);
  if (code === "ENOENT") return new ProgramFailedError("missing", "is not there", { cause: error });
  // Node's message has the argument, which may be secret.
  if (code === "ERR_INVALID_ARG_VALUE") {
    return new ProgramFailedError("not run", "can't be run: an argument or variable of it has a null byte");
  }
  return new ProgramFailedError("not run", `can't be run: ${error.message}`, { cause: error });
}

function badEnd(
  code: number | null,
  killedBy: NodeJS.Signals | null,
  { stdout, said }: { stdout: string; said: string },
): ProgramFailedError {
  const how = killedBy === null ? `failed with exit status ${code ?? "unknown"}` : `was killed by ${killedBy}`;
  return new ProgramFailedError("ended", `${how}${said === "" ? "" : `: ${said}`}`, { exitCode: code, stdout });
}

/** SIGKILL: what hangs need not listen to anything milder. */
function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
