// A pod whose phase is Succeeded or Failed never runs again, and its phase stays.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podNameOf } from "../world/world.js";
import type { Invariant } from "./invariant.js";

const ENDS = new Set(["Succeeded", "Failed"]);

export const terminatedStays: Invariant = {
  name: "a terminated pod never runs again",
  promisedBy: "docs/adr/0013-ends-of-pods.md",
  watch({ api, runtime }, broken) {
    const ended = new Map<string, string>();
    api.onPod(({ object, type }) => {
      const { uid = "", name } = object.metadata;
      const { phase = "" } = (object.status ?? {}) as { phase?: string };
      const before = ended.get(uid);
      if (type === "DELETED") ended.delete(uid);
      else if (before !== undefined && phase !== before) broken(`the phase ${before} became ${phase}`, name);
      else if (ENDS.has(phase)) ended.set(uid, phase);
    });
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType !== ContainerEventType.CONTAINER_STARTED_EVENT) return;
      const labels = runtime.state.containers.get(containerId)?.config.labels ?? {};
      const phase = ended.get(labels["io.kubernetes.pod.uid"] ?? "");
      if (phase !== undefined) broken(`container ${containerId} starts in a pod that is ${phase}`, podNameOf(labels));
    });
    return undefined;
  },
};
