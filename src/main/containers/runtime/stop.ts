// Stops and removals: StopPodSandbox, RemoveContainer, RemovePodSandbox. All are safe to repeat.

import type { InspectHint } from "../../../shared/contracts/pleg.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { removeLogsOfRun } from "../../model/removed-logs.js";
import type { RemoveContainerStep, RemoveSandboxStep, StopSandboxStep } from "../../model/step.js";
import { unlessGone } from "./kill-container.js";
import type { NodeRuntime } from "./node-runtime.js";

export async function stopSandbox(
  runtime: NodeRuntime,
  step: StopSandboxStep,
  signal: AbortSignal,
): Promise<InspectHint[]> {
  await unlessGone(runtime.cri.stopPodSandbox({ podSandboxId: step.sandboxId }, { signal }));
  return [{ kind: "sandbox", id: step.sandboxId }];
}

/** The logs go first: if a later call fails, the next pass still finds the container, and with it the run. */
export async function removeContainer(
  runtime: NodeRuntime,
  pod: Pod | undefined,
  { containerId, name, logsOfRun }: RemoveContainerStep,
  signal: AbortSignal,
): Promise<InspectHint[]> {
  if (pod !== undefined && logsOfRun !== undefined) {
    const run = { pod: pod.metadata, container: name, containerId, restartCount: logsOfRun };
    await removeLogsOfRun(runtime.settings, run);
  }
  await unlessGone(runtime.cri.removeContainer({ containerId }, { signal }));
  return [{ kind: "container-removed", id: containerId }];
}

export async function removeSandbox(
  runtime: NodeRuntime,
  step: RemoveSandboxStep,
  signal: AbortSignal,
): Promise<InspectHint[]> {
  await unlessGone(runtime.cri.removePodSandbox({ podSandboxId: step.sandboxId }, { signal }));
  // Its containers were removed with it: only the runtime can list them.
  return [
    { kind: "sandbox-removed", id: step.sandboxId },
    { kind: "recheck", id: "" },
  ];
}
