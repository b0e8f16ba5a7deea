// A ResourceClaim is unprepared when its last pod has ended, and before the API server says so: then the cluster may
// give its devices to others. No claim stays prepared without a pod.

import { isOver } from "../world/claim-controller.js";
import type { World } from "../world/world.js";
import type { Invariant } from "./invariant.js";

export const claimsEndWithTheirPods: Invariant = {
  name: "claims end with their pods",
  promisedBy: "docs/adr/0047-dynamic-resources.md",
  watch(world, broken) {
    const { api, dra } = world;
    if (dra === undefined) return undefined;
    const { claims, driver } = dra;
    api.onPod(({ type, object, previous }) => {
      if (type !== "MODIFIED" || !isOver(object.status) || isOver(previous?.status)) return;
      const { name, uid = "" } = object.metadata;
      for (const claim of claims.ofPods.get(uid)?.values() ?? []) {
        if (claim.isShared || !driver.prepared.has(claim.uid)) continue;
        broken(`the API server shows the pod as ended while its claim ${claim.name} is prepared`, name);
      }
    });
    return () => {
      const used = usedClaims(world);
      for (const [uid, { name }] of driver.prepared)
        if (!used.has(uid)) broken(`the claim ${name} is prepared, and no pod uses it`);
    };
  },
};

/** UIDs of claims that pods use which have not ended. */
function usedClaims({ api, dra }: World): Set<string> {
  const used = new Set<string>();
  for (const { metadata, status } of api.store.list("pods", "default")) {
    if (isOver(status)) continue;
    for (const { uid } of dra?.claims.ofPods.get(metadata.uid ?? "")?.values() ?? []) used.add(uid);
  }
  return used;
}
