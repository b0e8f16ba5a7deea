// Ephemeral containers: added to a running pod for debugging, started once, never restarted; no other container waits
// for one.
import { ContainerState, type PodSandboxStatus } from "../../shared/cri/gen/runtime.v1.js";
import type { PlanBuilder } from "./plan-builder.js";
import { startReason } from "./plan-context.js";
import { newestIn, newestOf } from "../model/observed-containers.js";

export function planEphemeral(builder: PlanBuilder, sandbox: PodSandboxStatus): void {
  const { pod, observed } = builder.input;
  for (const container of pod.spec.ephemeralContainers ?? []) {
    const status = newestOf(observed, container.name);
    if (status !== undefined && status.state !== ContainerState.CONTAINER_CREATED) continue;
    const target = newestIn(sandbox, observed, container.targetContainerName ?? "");
    const targetContainerId = target?.state === ContainerState.CONTAINER_RUNNING ? target.id : undefined;
    builder.start({ container, containerKind: "ephemeral", sandbox, targetContainerId, reason: startReason(status) });
  }
}
