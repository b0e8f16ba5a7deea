// Runs a program once: input on its standard input, result from its standard output. Used for credential plugins of image
// registries and of the API server.
// Invariant: the program and its children end at the deadline, on abort, and when they print too much. Its standard output
// may be secret and is in no message.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock } from "../clock/clock.js";
import { faultPoint } from "../thread/fault-points.js";
import { ProgramFailedError } from "./errors.js";
import { abortReason, asError } from "../errors/thrown.js";
import { errorCode } from "../errors/error-code.js";

/** Upstream's for plugins of registries (constants.tsv); client-go sets none, and would wait for ever. */
const DEADLINE_MS = 60_000;
const OUTPUT_LIMIT = 1024 * 1024;
/** Of standard error, for the message. */
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
  signal?: AbortSignal;
}

/** Its standard output, once it ended with 0. Rejects with ProgramFailedError, or the signal's reason. */
export async function runProgram(run: ProgramRun): Promise<string> {
  const { input = "", clock, signal } = run;
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
        reject(error);
      });
    const onAbort = (): void => giveUp(abortReason(signal));
    const timer = clock.after(DEADLINE_MS, () =>
      giveUp(new ProgramFailedError("slow", `gave no answer within ${DEADLINE_MS / 1000} s, killed`)),
    );
    signal?.addEventListener("abort", onAbort, { once: true });
    child.stdout.on("data", (block: Buffer) => {
      size += block.length;
      if (size <= OUTPUT_LIMIT) output.push(block);
      else giveUp(new ProgramFailedError("flood", `printed more than ${OUTPUT_LIMIT} bytes, killed`));
    });
    child.stderr.on("data", (block: Buffer) => {
      if (stderr.length < STDERR_SHOWN) stderr = (stderr + block.toString("utf8")).slice(0, STDERR_SHOWN);
    });
    // One that ends without reading: its exit status tells more than the broken pipe.
    child.stdin.on("error", () => undefined);
    child.on("error", (error) => settle(() => reject(notRun(error))));
    child.on("close", (code, killedBy) => {
      try {
        faultPoint("child-exit");
        if (code === 0) settle(() => resolve(Buffer.concat(output).toString("utf8")));
        else settle(() => reject(badEnd(code, killedBy, stderr.trim())));
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
      detached: true, // a process group of its own: what it started is killed with it
    });
  } catch (error) {
    // More arguments and variables than the kernel takes, for one.
    throw notRun(asError(error));
  }
}

function notRun(error: Error): ProgramFailedError {
  return errorCode(error) === "ENOENT"
    ? new ProgramFailedError("missing", "is not there", { cause: error })
    : new ProgramFailedError("not run", `can't be run: ${error.message}`, { cause: error });
}

function badEnd(code: number | null, killedBy: NodeJS.Signals | null, said: string): ProgramFailedError {
  const how = killedBy === null ? `ended with exit status ${code ?? "unknown"}` : `was killed by ${killedBy}`;
  return new ProgramFailedError("ended", `${how}${said === "" ? "" : `: ${said}`}`, { exitCode: code });
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
