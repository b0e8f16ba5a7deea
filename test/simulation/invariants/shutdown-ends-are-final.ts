// A pod of the API that began to end for a shutdown does not start again before the next boot, however often the
// kubelet does: its record holds the verdict before its first container is stopped. No record survives a boot.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import type { Action } from "../plan/events.js";
import { podNameOf } from "../world/pod-facts.js";
import type { Invariant } from "./invariant.js";
import { endsContainer } from "./shutdown-ends.js";

/** Something else may stop containers, or a record is not on the disk. */
const OTHER_REASONS: ReadonlySet<Action["do"]> = new Set([
  "disk",
  "container-dies",
  "sandbox-dies",
  "sandbox-vanishes",
  "sandboxes-pruned",
  "runtime-error",
  "runtime-restart",
  "clock-jump",
]);
/** The longest of these faults, and what comes of it. */
const QUIET_MS = 120_000;

export const shutdownEndsAreFinal: Invariant = {
  name: "a pod that began to end for a shutdown does not start again",
  promisedBy: "docs/adr/0034-shutdown.md",
  watch({ shutdowns, runtime, facts, onFault }, broken) {
    if (shutdowns === undefined) return undefined;
    /** By UID, the moment of the first call that ends the pod. */
    const begun = new Map<string, number>();
    let otherAt = -Infinity;
    onFault.add((kind) => {
      if (OTHER_REASONS.has(kind)) otherAt = kernel.monotonic;
      if (kind === "reboot") begun.clear();
    });
    const labelsOf = (id: string): Readonly<Record<string, string>> =>
      runtime.state.containers.get(id)?.config.labels ?? {};
    runtime.watchers.add((verb, request) => {
      const { last } = shutdowns;
      if (last === undefined || last.isOver === true || !endsContainer(verb, request)) return;
      const labels = labelsOf((request as { containerId: string }).containerId);
      const { shape, deletedAt, editedAt } = facts.pods.get(podNameOf(labels)) ?? {};
      if (shape?.isSteady !== true || shape.isStatic || shape.hasDeadline) return;
      if (deletedAt !== undefined || editedAt !== undefined || kernel.monotonic - otherAt < QUIET_MS) return;
      begun.set(labels["io.kubernetes.pod.uid"] ?? "", kernel.monotonic);
    });
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType !== ContainerEventType.CONTAINER_STARTED_EVENT) return;
      const labels = labelsOf(containerId);
      const at = begun.get(labels["io.kubernetes.pod.uid"] ?? "");
      if (at === undefined) return;
      const agoMs = Math.round(kernel.monotonic - at);
      broken(`a container starts ${agoMs} ms after the pod began to end for a shutdown`, podNameOf(labels));
    });
    return undefined;
  },
};
