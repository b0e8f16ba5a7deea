// The object of a pod leaves the API only when nothing of the pod runs: a successor of its name may start then.

import { PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import type { Invariant } from "./invariant.js";

function hasEnded(object: { status?: unknown } | undefined): boolean {
  const { phase = "" } = (object?.status ?? {}) as { phase?: string };
  return phase === "Succeeded" || phase === "Failed";
}

export const objectGoesLast: Invariant = {
  name: "the object of a pod goes last",
  promisedBy: "docs/adr/0013-ends-of-pods.md",
  watch({ api, facts, runtime }, broken) {
    api.onPod(({ type, object, previous }) => {
      const { name, uid } = object.metadata;
      const pod = facts.pods.get(name);
      // Mirror pods are not in the facts under their names.
      if (type !== "DELETED" || pod === undefined) return;
      // The API server itself removes a pod that gets no grace period, as one that has ended.
      if (pod.graceSeconds === 0 || (pod.deletedAt === kernel.monotonic && hasEnded(previous))) return;
      if (pod.deletedAt === undefined) broken("the object was removed, but no client had deleted it", name);
      for (const { config, status } of runtime.state.sandboxes.values()) {
        if (config.metadata?.uid !== uid || status.state !== PodSandboxState.SANDBOX_READY) continue;
        broken(`the object is gone, but sandbox ${status.id} still runs`, name);
      }
    });
    return undefined;
  },
};
