// Runs one lifecycle hook to its end. Invariant: after it has settled, only a command whose call was given up may
// continue, until its container exits. A failure of the hook is a HookError with upstream's message, an abort is the
// signal's reason.

import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { quote } from "../../../../shared/base/text/quote.js";
import { podDescription, type LifecycleHandler } from "../../../../shared/kubernetes/api/pod.js";
import { CriError, grpcText } from "../../../../shared/kubernetes/cri/errors.js";
import type { ContainerId } from "../../../../shared/kubernetes/identifiers.js";
import type { NodeRuntime } from "../node-runtime.js";
import { HookError } from "./hook-error.js";
import type { HookTarget } from "./hook-target.js";
import { runHttpHook } from "./http-hook.js";
import { letGoOnAbort } from "./let-go-on-abort.js";

/** Bytes of a command's output that its failure shows. */
const OUTPUT_LIMIT = 10 * 1024;

export async function runHook(
  runtime: NodeRuntime,
  target: HookTarget,
  handler: LifecycleHandler,
  signal: AbortSignal,
): Promise<void> {
  const { exec, httpGet, sleep } = handler;
  const where = `for Container ${quote(target.container.name)} in Pod ${quote(podDescription(target.pod))} failed - error`;
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
  containerId: ContainerId,
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
    if (!(error instanceof CriError)) throw error;
    return { error: grpcText(error), output: "" };
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
