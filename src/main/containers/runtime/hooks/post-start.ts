// postStart: run when the container has started, before the next one is. A hook that fails takes its container down.

import { later } from "../../../../shared/base/clock/moments.js";
import type { InspectHint } from "../../../../shared/contracts/pleg.js";
import { type Pod, podDescription } from "../../../../shared/kubernetes/api/pod.js";
import type { ContainerId } from "../../../../shared/kubernetes/identifiers.js";
import { graceSeconds } from "../../../model/container-stop.js";
import { traced } from "../../../model/pod-trace.js";
import { StartContainerError } from "../../../model/step-errors.js";
import type { StartContainerStep } from "../../../model/step.js";
import { stopOne, type Stopping } from "../kill-container.js";
import type { NodeRuntime } from "../node-runtime.js";
import { HookError } from "./hook-error.js";
import { runHook } from "./run-hook.js";

const REASON = "PostStartHookError";

/** Rejects with StartContainerError if the hook failed, with the signal's reason if it was aborted. */
export async function runPostStart(
  runtime: NodeRuntime,
  stopping: Stopping,
  pod: Pod,
  step: StartContainerStep,
  started: InspectHint[],
  signal: AbortSignal,
  onProgress: (hints: InspectHint[]) => void,
): Promise<void> {
  const { container } = step;
  const handler = container.lifecycle?.postStart;
  const containerId = started.find((hint) => hint.kind === "container")?.id;
  if (handler === undefined || containerId === undefined) return;
  // It runs already, however long the hook takes.
  onProgress(started);
  const address = pod.spec.hostNetwork === true ? runtime.node.nodeIPs[0] : step.podIPs[0];
  const target = { pod, container, containerId, podIP: () => Promise.resolve(address) };
  try {
    const subject = { uid: pod.metadata.uid, stage: "post-start", container: container.name };
    await traced(runtime.trace, subject, () => runHook(runtime, target, handler, signal));
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    const event = { type: "Warning", reason: "FailedPostStartHook", message: "PostStartHook failed" } as const;
    runtime.events.pod(pod, { ...event, container: container.name });
    runtime.metrics.containerStartFailed(step.containerKind === "init" ? "init_container" : "container", REASON);
    await takeDown(runtime, stopping, pod, step, containerId, signal);
    throw new StartContainerError(REASON, error.message, undefined, { cause: error });
  }
}

/** If the stop fails, the next pass finds the container running, as in upstream. */
async function takeDown(
  runtime: NodeRuntime,
  stopping: Stopping,
  pod: Pod,
  { container }: StartContainerStep,
  containerId: ContainerId,
  signal: AbortSignal,
): Promise<void> {
  const grace = graceSeconds(pod);
  const deadline = later(runtime.clock.steady(), grace * 1000);
  const kill = { containerId, name: container.name, graceSeconds: grace, deadline, message: "FailedPostStartHook" };
  try {
    await stopOne(runtime, stopping, pod, kill, signal);
  } catch (error) {
    signal.throwIfAborted();
    const name = container.name;
    runtime.log.error(
      { uid: pod.metadata.uid, container: name, err: error },
      `${podDescription(pod)}: ${name} is still running`,
    );
  }
}
