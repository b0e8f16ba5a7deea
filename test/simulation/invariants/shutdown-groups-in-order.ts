// At a shutdown pods end by their groups, the least important ones first: a group begins when the one before has ended
// or is out of time. A pod gets its grace period, at most the time of its group. Nothing of it starts again.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { podNameOf } from "../world/pod-facts.js";
import type { Invariant } from "./invariant.js";
import { endsContainer, watchEnds } from "./shutdown-ends.js";

/** A container has so much after its preStop hook with every grace period. */
const LEAST_SECONDS = 2;
/** Whole seconds are rounded, and a call takes a moment. */
const SHORTER_MS = 1500;
const KILLED = 137;

export const shutdownGroupsInOrder: Invariant = {
  name: "pods end by their groups at a shutdown",
  promisedBy:
    "https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/2712-pod-priority-based-graceful-node-shutdown",
  watch(world, broken) {
    if (world.shutdowns === undefined) return undefined;
    const current = watchEnds(world);
    const { state } = world.runtime;
    const nameOf = (id: string): string => podNameOf(state.containers.get(id)?.config.labels ?? {});
    world.runtime.watchers.add((verb, request) => {
      const ends = current();
      if (ends === undefined || !endsContainer(verb, request)) return;
      const { containerId, timeout } = request as { containerId: string; timeout: bigint };
      const name = nameOf(containerId);
      const pod = ends.pods.get(name);
      if (pod === undefined || !ends.isWanted(name)) return;
      const [before] = ends.before(pod.group);
      if (before !== undefined) broken(`the pod ends before ${before}, which is less important`, name);
      const most = Math.max(LEAST_SECONDS, ends.graceOf(pod));
      if (verb === "StopContainer" && timeout > most)
        broken(`StopContainer with ${timeout} s in a shutdown that gives the pod ${most} s`, name);
    });
    state.eventListeners.add(({ containerId, containerEventType }) => {
      const ends = current();
      const name = nameOf(containerId);
      const begunAt = ends?.begunAt.get(name);
      const pod = ends?.pods.get(name);
      if (ends === undefined || begunAt === undefined || pod === undefined || !ends.isWanted(name)) return;
      if (containerEventType === ContainerEventType.CONTAINER_STARTED_EVENT)
        broken("a container starts in a pod that ends for a shutdown", name);
      if (containerEventType !== ContainerEventType.CONTAINER_STOPPED_EVENT) return;
      if (state.containers.get(containerId)?.status.exitCode !== KILLED) return;
      const passed = kernel.monotonic - begunAt;
      const grace = ends.graceOf(pod);
      if (passed < grace * 1000 - SHORTER_MS)
        broken(`a container was killed ${Math.round(passed)} ms after its end began, with ${grace} s of grace`, name);
    });
    return undefined;
  },
};
