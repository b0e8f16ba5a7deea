// The grace period is never shorter than promised, and never given twice.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { podNameOf } from "../world/pod-facts.js";
import type { Invariant } from "./invariant.js";

const KILLED = 137;
/** Whole seconds are rounded, and a call takes a moment. */
const SHORTER_MS = 1500;
/** Beyond the grace and the time without a kubelet, with nothing else that disturbs. */
const LONGER_MS = 10_000;

export const graceIsKept: Invariant = {
  name: "the grace period is kept",
  promisedBy: "docs/adr/0013-ends-of-pods.md",
  watch({ facts, runtime }, broken) {
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType !== ContainerEventType.CONTAINER_STOPPED_EVENT) return;
      const container = runtime.state.containers.get(containerId);
      if (container?.status.exitCode !== KILLED) return;
      const name = podNameOf(container.config.labels);
      const pod = facts.pods.get(name);
      if (pod?.deletedAt === undefined || pod.editedAt !== undefined || pod.disturbedAt !== undefined) return;
      const passed = kernel.monotonic - pod.deletedAt;
      const graceMs = pod.graceSeconds * 1000;
      const what = container.config.metadata?.name ?? "";
      // Its grace period may have begun before.
      if (facts.lastRebootAt >= pod.deletedAt || pod.shape.hasDeadline) return;
      if (passed < graceMs - SHORTER_MS)
        broken(`${what} was killed after ${passed} ms of ${graceMs} ms of grace`, name);
      if (facts.lastOtherFaultAt > pod.deletedAt - LONGER_MS) return;
      // A kubelet that restarts goes on with the deadline of the one before; the definition's grace is for deletions
      // that no kubelet saw.
      const down = facts.downAt(kernel.monotonic) - pod.downBeforeDeletion;
      const most = down > 0 ? Math.max(graceMs, pod.shape.graceSeconds * 1000) : graceMs;
      const limit = most + LONGER_MS + down;
      if (passed > limit) broken(`${what} was killed after ${passed} ms, with ${graceMs} ms of grace`, name);
    });
    return undefined;
  },
};
