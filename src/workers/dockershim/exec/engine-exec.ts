// A command in a container as the Engine knows it: made, looked at, awaited. Its stream ends a moment before the
// command does, or long before where the command closes its outputs.
// Invariant: an exit code is one that the Engine reported. None reported is an error, never a success.

import type Docker from "dockerode";
import { answered } from "../engine/answers.js";
import { Fault, isNotFound } from "../fault.js";
import type { Shim } from "../shim.js";

const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 1000;

export async function makeExec(
  { engine }: Shim,
  containerId: string,
  options: Docker.ExecCreateOptions,
  signal: AbortSignal,
): Promise<Docker.Exec> {
  return engine.call(signal, async (docker, abortSignal) => {
    const exec = await docker.getContainer(containerId).exec({ ...options, abortSignal });
    answered("execCreated", { Id: exec.id });
    return exec;
  });
}

/**
 * Resolves when the command has ended. Rejects when the signal aborts, and where the Engine does not know the command
 * any more.
 */
export async function exitCodeOf(shim: Shim, exec: Docker.Exec, signal: AbortSignal): Promise<number> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    const { Running, ExitCode } = await inspectedExec(shim, exec, signal);
    if (!Running) {
      if (ExitCode === null) throw new Fault("UNKNOWN", "the Docker Engine does not report the command's exit code");
      return ExitCode;
    }
    await shim.clock.sleep(waitMs, signal);
  }
}

/** On the node; 0: the Engine does not say. */
export async function pidOf(shim: Shim, exec: Docker.Exec, signal: AbortSignal): Promise<number> {
  return (await inspectedExec(shim, exec, signal)).Pid;
}

async function inspectedExec(
  { engine }: Shim,
  exec: Docker.Exec,
  signal: AbortSignal,
): Promise<{ Running: boolean; ExitCode: number | null; Pid: number }> {
  try {
    const found: { Running: boolean; ExitCode?: number | null; Pid?: number | null } = await engine.call(
      signal,
      (_docker, abort) => exec.inspect({ abortSignal: abort }),
    );
    const { Running, ExitCode, Pid } = answered("exec", found);
    return { Running, ExitCode: ExitCode ?? null, Pid: Pid ?? 0 };
  } catch (error) {
    // Not found would mean that the container was removed.
    if (isNotFound(error))
      throw new Fault("UNKNOWN", "the Docker Engine lost the command: it was restarted, or the container exited", {
        cause: error,
      });
    throw error;
  }
}
