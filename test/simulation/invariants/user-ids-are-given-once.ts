// The user ids of a pod with a user namespace are no other pod's, and the pod keeps them, over restarts of its sandbox
// and of the kubelet.

import { PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podNameOf } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import type { Invariant } from "./invariant.js";

interface Ids {
  pod: string;
  uid: string;
  /** The first id, and the one after the last. */
  first: number;
  end: number;
}

export const userIdsAreGivenOnce: Invariant = {
  name: "user ids are given once",
  promisedBy: "ARCHITECTURE.md",
  watch(world, broken) {
    if (!world.node.hasUserNamespaces) return undefined;
    let had = new Map<string, Ids>();
    world.onFault.add((kind) => {
      // Nothing runs on: a pod may start anew.
      if (kind === "reboot") had = new Map();
    });
    const check = (): void => {
      const all = idsOf(world);
      for (const ids of all) {
        const { pod, uid, first, end } = ids;
        const other = all.find((one) => one.uid !== uid && one.first < end && first < one.end);
        if (other !== undefined) broken(`the ids from ${first} on are those of ${other.pod}, too`, pod);
        const before = had.get(uid);
        had.set(uid, ids);
        if (before === undefined || before.first === first) continue;
        broken(`the pod had the ids from ${before.first} on, and has those from ${first} on`, pod);
      }
    };
    world.runtime.onEnd.add((verb) => {
      if (verb === "RunPodSandbox") check();
    });
    return () => {
      check();
      for (const [uid, { pod }] of had) if (!world.facts.pods.has(pod)) had.delete(uid);
    };
  },
};

/** Those of sandboxes that run. */
function idsOf({ runtime, facts }: World): Ids[] {
  return [...runtime.state.sandboxes.values()].flatMap(({ config, status }) => {
    const pod = podNameOf(config.labels);
    if (status.state !== PodSandboxState.SANDBOX_READY) return [];
    if (facts.pods.get(pod)?.shape.spec["hostUsers"] !== false) return [];
    const { hostId = 0, length = 0 } = config.linux?.securityContext?.namespaceOptions?.usernsOptions?.uids[0] ?? {};
    return [{ pod, uid: config.metadata?.uid ?? "", first: hostId, end: hostId + length }];
  });
}
