// A pod whose phase is Succeeded or Failed never runs again, and its phase stays. No container of it runs when it gets
// the phase, and its sandbox is stopped, though its source still wants it. A static pod runs again after a reboot: no
// record of it applies any more; nor if the disk fails while a kubelet reads its records, or had no room for the record
// of its end. One that was not admitted is tried again by the next kubelet, as upstream's.

import {
  ContainerEventType,
  ContainerState,
  PodSandboxState,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { podNameOf } from "../world/pod-facts.js";
import { isRejected } from "../world/rejections.js";
import type { Invariant } from "./invariant.js";

const ENDS = new Set(["Succeeded", "Failed"]);

interface PodObject {
  metadata: { uid?: string; annotations?: Record<string, string> };
}

/** The UID under which the pod runs: a static pod's is that of its manifest. */
function runningUid({ metadata }: PodObject): string {
  return metadata.annotations?.["kubernetes.io/config.hash"] ?? metadata.uid ?? "";
}

/** The end of a pod, by the UID under which it runs. */
interface End {
  phase: string;
  name: string;
  isStatic: boolean;
  isRejected: boolean;
  /** The kubelet's disk had no room then. */
  isUnrecorded: boolean;
  at: number;
}

export const terminatedStays: Invariant = {
  name: "a terminated pod never runs again",
  promisedBy: "docs/adr/0013-ends-of-pods.md",
  watch({ api, runtime, facts, node, disks }, broken) {
    const all = new Map<string, End>();
    const ended = {
      get: (uid: string): End | undefined => {
        const end = all.get(uid);
        const triedAt = end?.isRejected === true ? (facts.startedAt ?? -Infinity) : -Infinity;
        const unknownAt = end?.isUnrecorded === true ? facts.launchedAt : -Infinity;
        const forgottenAt = Math.max(facts.lastRebootAt, facts.lastUnreadableStartAt, triedAt, unknownAt);
        return end?.isStatic === true && end.at < forgottenAt ? undefined : end;
      },
      set: (uid: string, end: End) => all.set(uid, end),
      delete: (uid: string) => all.delete(uid),
    };
    api.onPod(({ object, type }) => {
      const uid = runningUid(object);
      const { name } = object.metadata;
      const status = (object.status ?? {}) as { phase?: string; reason?: string };
      const { phase = "" } = status;
      const before = ended.get(uid)?.phase;
      if (type === "DELETED") ended.delete(uid);
      else if (before !== undefined && phase !== before) broken(`the phase ${before} became ${phase}`, name);
      else if (before === undefined && ENDS.has(phase)) {
        const isStatic = uid !== object.metadata.uid;
        const [isUnrecorded, at] = [disks?.isFull === true, kernel.monotonic];
        ended.set(uid, { phase, name, isStatic, isRejected: isRejected(node, status), isUnrecorded, at });
        for (const { config, status } of runtime.state.containers.values()) {
          if (config.labels["io.kubernetes.pod.uid"] !== uid || status.state !== ContainerState.CONTAINER_RUNNING)
            continue;
          broken(`the pod is ${phase}, but container ${config.metadata?.name ?? ""} runs`, name);
        }
      }
    });
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType !== ContainerEventType.CONTAINER_STARTED_EVENT) return;
      const labels = runtime.state.containers.get(containerId)?.config.labels ?? {};
      const end = ended.get(labels["io.kubernetes.pod.uid"] ?? "");
      if (end !== undefined) broken(`container ${containerId} starts in a pod that is ${end.phase}`, podNameOf(labels));
    });
    return () => {
      for (const { config, status } of runtime.state.sandboxes.values()) {
        const end = ended.get(config.labels["io.kubernetes.pod.uid"] ?? "");
        if (end === undefined || status.state !== PodSandboxState.SANDBOX_READY) continue;
        broken(`the pod is ${end.phase}, but sandbox ${status.id} runs on`, end.name);
      }
    };
  },
};
