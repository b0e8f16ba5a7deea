// Runs one lifecycle hook to its end. Invariant: after it has settled, only a command whose call was given up may continue, until its
// container exits. A failure of the hook is a HookError with upstream's message, an abort is the signal's reason.
import { podDescription, type LifecycleHandler } from "../../../shared/api/pod.js";
import { isCriError } from "../../../shared/cri/errors.js";
import { quote } from "../../../shared/log/quote.js";
import type { NodeRuntime } from "../node-runtime.js";
import type { HookTarget } from "./hook-target.js";
import { runHttpHook } from "./http-hook.js";
import { messageOf, abortReason } from "../../../shared/errors/thrown.js";
import type { Clock } from "../../../shared/clock/clock.js";

/** Bytes of a command's output that its failure shows. */
const OUTPUT_LIMIT = 10 * 1024;

export async function runHook(
  runtime: NodeRuntime,
  target: HookTarget,
  handler: LifecycleHandler,
  signal: AbortSignal,
): Promise<void> {
  const { exec, httpGet, sleep } = handler;
  const where = `for Container "${target.container.name}" in Pod "${podDescription(target.pod)}" failed - error`;
  if (exec !== undefined) {
    const command = exec.command ?? [];
    const failure = await runCommand(runtime, target.containerId, command, signal);
    if (failure === undefined) return;
    const { error, output } = failure;
    throw new HookError(`Exec lifecycle hook ([${command.join(" ")}]) ${where}: ${error}, message: ${quote(output)}`);
  }
  if (httpGet !== undefined) {
    await reportingFailure(`HTTP lifecycle hook (${httpGet.path ?? ""}) ${where}`, signal, () =>
      runHttpHook(runtime, target, httpGet, signal),
    );
    return;
  }
  if (sleep !== undefined) {
    try {
      await runtime.clock.sleep(sleep.seconds * 1000, signal);
    } catch (error) {
      runtime.metrics.sleepCutShort();
      throw error;
    }
    return;
  }
  // A TCP handler is valid in a definition, but no kubelet has ever run one.
  throw new HookError(`Cannot run handler: invalid handler: ${Object.keys(handler).join(", ")}`);
}

/** undefined: it ended with status 0. */
async function runCommand(
  runtime: NodeRuntime,
  containerId: string,
  cmd: string[],
  signal: AbortSignal,
): Promise<{ error: string; output: string } | undefined> {
  try {
    const { exitCode, stdout, stderr } = await letGoOnAbort(runtime.clock, signal, (late) =>
      runtime.cri.execSync({ containerId, cmd, timeout: 0n }, { signal: late }),
    );
    if (exitCode === 0) return undefined;
    const output = Buffer.concat([stdout, stderr]).subarray(0, OUTPUT_LIMIT).toString("utf8");
    const complaint = Buffer.from(stderr).subarray(0, OUTPUT_LIMIT).toString("utf8");
    return { error: `command '${cmd.join(" ")}' exited with ${exitCode}: ${complaint}`, output };
  } catch (error) {
    signal.throwIfAborted();
    if (!isCriError(error)) throw error;
    return { error: error.details, output: "" };
  }
}

async function reportingFailure(what: string, signal: AbortSignal, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    signal.throwIfAborted();
    throw new HookError(`${what}: ${messageOf(error)}`, { cause: error });
  }
}

// Calls that must not be cancelled while the runtime is just beginning with them. If the client disconnects while a command of ExecSync
// starts, containerd holds the container's shim for 30 s. The stop that made the caller disconnect then waits, too.

/** By then a command has long started; cancelling ends it. */
const PATIENCE_MS = 10_000;

/**
 * Settles as `call` does, or rejects with the signal's reason as soon as that aborts. The call then goes on by itself, and
 * is cancelled PATIENCE_MS later should it still be there.
 * @internal
 */
export function letGoOnAbort<T>(
  clock: Pick<Clock, "after">,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const late = new AbortController();
  return new Promise((resolve, reject) => {
    const ended = call(late.signal);
    const onAbort = (): void => {
      reject(abortReason(signal));
      const timer = clock.after(PATIENCE_MS, () => late.abort(signal.reason)).unref();
      void ended.then(
        () => timer.cancel(),
        () => timer.cancel(),
      );
    };
    signal.addEventListener("abort", onAbort, { once: true });
    ended.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

// A lifecycle hook that failed by itself. An aborted hook is no failure: it rejects with the signal's reason.

export class HookError extends Error {
  override readonly name = "HookError";
}

export function isHookError(error: unknown): error is HookError {
  return error instanceof HookError;
}
