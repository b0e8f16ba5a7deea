// The lock that delays a shutdown, and the maximum delay in logind's configuration. logind passes the lock as a file
// descriptor, which Node cannot receive. So systemd-inhibit holds the lock while its command runs. The command is a
// `cat` that exits when its input ends (docs/adr/0034).
// Invariant: however the kubelet ends, its end of the pipe closes, which releases the lock.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { inhibitLockError } from "./errors.js";

const WHY = "Kubelet needs time to handle node shutdown";
const ARGUMENTS = ["--what=shutdown", "--mode=delay", "--who=kubelet", `--why=${WHY}`, "--", "cat"];
/** The line that `cat` prints: it runs only once the lock is held. */
const WORD = "held\n";
const DEADLINE_MS = 10_000;
const STDERR_CHARACTERS = 500;

export interface InhibitLock {
  /** Resolves when the lock is released or lost. */
  readonly gone: Promise<void>;
  release(): void;
}

/** @throws OperatorError */
export async function takeInhibitLock(clock: Clock, signal: AbortSignal): Promise<InhibitLock> {
  const child = spawn("systemd-inhibit", ARGUMENTS, { stdio: "pipe" });
  const said = { out: "", err: "" };
  const gone = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
  });
  // A pipe to a process that has exited: "close" reports its end.
  child.stdin.on("error", () => undefined);
  child.stderr.on("data", (chunk: Buffer) => {
    said.err = (said.err + chunk.toString()).slice(-STDERR_CHARACTERS);
  });
  const release = (): void => {
    child.stdin.end();
  };
  try {
    await held(child, said, clock, signal);
  } catch (error) {
    release();
    child.kill();
    throw error;
  }
  return { gone, release };
}

function held(
  child: ChildProcessWithoutNullStreams,
  said: { out: string; err: string },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", onAbort);
    };
    const end = (why: string, cause?: unknown): void => {
      leave();
      reject(inhibitLockError(why, cause));
    };
    const onAbort = (): void => end("the kubelet is stopping");
    const timer = clock.after(DEADLINE_MS, () => end(`no response within ${DEADLINE_MS / 1000} s`));
    child.on("error", (error) => end(error.message, error));
    child.once("close", (code, signal) => end(`it exited with ${signal ?? `status ${code ?? 0}`}: ${said.err.trim()}`));
    child.stdout.on("data", (chunk: Buffer) => {
      if (said.out.length >= WORD.length) return;
      said.out += chunk.toString();
      if (!said.out.startsWith(WORD)) return;
      leave();
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
    child.stdin.write(WORD);
  });
}
