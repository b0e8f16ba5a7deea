// No healthy container is stopped: only the end, the deadline or an edit of its pod, a failed liveness probe, or the
// death of its sandbox or a neighbour of its job is a reason. Where pods have CPUs of their own, a static pod may need
// the room of another pod.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { plainName, podNameOf } from "../world/pod-facts.js";
import { scriptOf } from "../world/scripts.js";
import type { World } from "../world/world.js";
import type { Invariant } from "./invariant.js";

const STOPS = new Set(["StopContainer", "RemoveContainer"]);
const SANDBOX_STOPS = new Set(["StopPodSandbox", "RemovePodSandbox"]);

export const healthyRunsOn: Invariant = {
  name: "healthy containers run on",
  promisedBy: "docs/adr/0013-ends-of-pods.md",
  watch(world, broken) {
    const { state } = world.runtime;
    const check = (id: string, verb: string): void => {
      const container = state.containers.get(id);
      if (container?.status.state !== ContainerState.CONTAINER_RUNNING) return;
      const pod = podNameOf(container.config.labels);
      if (mayStop(world, pod, id)) return;
      broken(`${verb} of the healthy container ${container.config.metadata?.name ?? ""} (${id})`, pod);
    };
    world.runtime.watchers.add((verb, request) => {
      const { containerId, podSandboxId } = request as { containerId?: string; podSandboxId?: string };
      if (STOPS.has(verb) && containerId !== undefined) check(containerId, verb);
      if (!SANDBOX_STOPS.has(verb) || podSandboxId === undefined) return;
      for (const id of state.sandboxes.get(podSandboxId)?.containers ?? []) check(id, verb);
    });
    if (world.node.reserved === undefined) return undefined;
    world.onLog.add(({ msg }) => {
      // The event of a pod with many events is dropped: it has its share of them.
      const name = /^pod ([^_]+)_\S+ is preempted by critical pod /.exec(msg)?.[1];
      const preempted = world.facts.pods.get(plainName(name ?? ""));
      if (preempted !== undefined) preempted.disturbedAt = kernel.monotonic;
    });
    return undefined;
  },
};

/** Whether anything is a reason to stop this container of a pod. */
export function mayStop({ facts, runtime }: World, name: string, id: string): boolean {
  const pod = facts.pods.get(name);
  if (pod === undefined) return false;
  if (pod.shape.hasDeadline) return true;
  if (pod.deletedAt !== undefined || pod.editedAt !== undefined || pod.disturbedAt !== undefined) return true;
  const container = runtime.state.containers.get(id);
  if (container !== undefined && scriptOf(container.config).healthyMs !== Infinity) return true;
  // A sidecar ends with the containers of its job.
  return pod.shape.kind === "job" && container?.config.metadata?.name === "sidecar";
}
