// Stops and removals: StopPodSandbox, RemoveContainer, RemovePodSandbox. All are safe to repeat.

import type { InspectHint } from "../../../shared/contracts/pleg.js";
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

export async function removeContainer(
  runtime: NodeRuntime,
  step: RemoveContainerStep,
  signal: AbortSignal,
): Promise<InspectHint[]> {
  await unlessGone(runtime.cri.removeContainer({ containerId: step.containerId }, { signal }));
  return [{ kind: "container-removed", id: step.containerId }];
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
