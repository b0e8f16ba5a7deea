// The lock that delays a shutdown, and the maximum delay in logind's configuration. logind passes the lock as a file descriptor, which Node
// cannot receive. So systemd-inhibit holds the lock while its command runs. The command is a `cat` that exits when its input ends
// (docs/adr/0034).
// Invariant: however the kubelet ends, its end of the pipe closes, which releases the lock.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock } from "../../../shared/clock/clock.js";
import { InhibitLockError, InhibitDelayTooShortError } from "./errors.js";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { atomicWrite } from "../../../shared/fs/atomic-write.js";
import type { Logger } from "../../../shared/log/logger.js";
import type { Logind } from "./logind.js";

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

/** @throws InhibitLockError */
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
      reject(new InhibitLockError(why, cause));
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

// logind delays a shutdown by five seconds by default. When the configuration grants pods more time, the kubelet writes
// a drop-in file into logind's configuration, as upstream does.

export const LOGIND_CONF_DIR = "/etc/systemd/logind.conf.d";
const FILE = "99-kubelet.conf";
/** logind reads its configuration when its turn comes. */
const TRIES = 50;
const PAUSE_MS = 100;

interface InhibitDelayDeps {
  logind: Pick<Logind, "inhibitDelayMs" | "reload">;
  confDir: string;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
}

/** @throws InhibitDelayTooShortError, the error of the bus, or the signal's reason */
export async function ensureInhibitDelay(needMs: number, deps: InhibitDelayDeps): Promise<void> {
  const { logind, confDir, clock, log, signal } = deps;
  const before = await logind.inhibitDelayMs();
  if (before >= needMs) return;
  const file = join(confDir, FILE);
  try {
    await mkdir(confDir, { recursive: true, mode: 0o755 });
    await atomicWrite(file, content(needMs), { mode: 0o644 });
  } catch (error) {
    throw new InhibitDelayTooShortError(needMs, before, file, error);
  }
  log.info(`logind delays a shutdown for ${before / 1000} s at most: ${file} now sets ${needMs / 1000} s`);
  await logind.reload();
  let delay = before;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    delay = await logind.inhibitDelayMs();
    if (delay >= needMs) return;
    await clock.sleep(PAUSE_MS, signal);
  }
  throw new InhibitDelayTooShortError(needMs, delay, file);
}

function content(needMs: number): string {
  return `# Written by the kubelet for its shutdown grace periods.\n[Login]\nInhibitDelayMaxSec=${Math.ceil(needMs / 1000)}\n`;
}
