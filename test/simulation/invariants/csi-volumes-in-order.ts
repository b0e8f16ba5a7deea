// A CSI volume is staged before it is published and while it is, is published while a container of its pod runs, and is
// unstaged once no pod uses it.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podNameOf } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

export const csiVolumesInOrder: Invariant = {
  name: "CSI volumes are staged while they are used, and only then",
  promisedBy: "docs/adr/0027-persistent-volumes.md",
  watch(world, broken) {
    const { csi, runtime } = world;
    if (csi === undefined) return undefined;
    csi.onWrong.add((what) => broken(what));
    csi.onUnpublish.add((target) => {
      const uid = uidOf(target);
      for (const { config, status } of runtime.state.containers.values()) {
        if (config.labels["io.kubernetes.pod.uid"] !== uid || status.state !== ContainerState.CONTAINER_RUNNING)
          continue;
        broken(`its volume is unpublished while ${config.metadata?.name} runs`, podNameOf(config.labels));
      }
    });
    return () => checkUse(world, csi, broken);
  },
};

function uidOf(target: string): string {
  return /\/pods\/([^/]+)\//.exec(target)?.[1] ?? "";
}

function checkUse({ runtime, facts }: World, { staged, published }: NonNullable<World["csi"]>, broken: Broken): void {
  const used = new Set(published.values());
  for (const volume of staged.keys()) if (!used.has(volume)) broken(`${volume} is staged, and no pod uses it`);
  const users = new Set([...published.keys()].map(uidOf));
  const { sandboxes, containers } = runtime.state;
  const known = new Set([...sandboxes.values()].map(({ config }) => config.labels["io.kubernetes.pod.uid"] ?? ""));
  // A sandbox may be made while its pod waits for the volume.
  for (const { config, status } of containers.values()) {
    const name = podNameOf(config.labels);
    const uid = config.labels["io.kubernetes.pod.uid"] ?? "";
    if (status.state !== ContainerState.CONTAINER_RUNNING || facts.pods.get(name)?.shape.claim === undefined) continue;
    if (!users.has(uid)) broken("it runs, and its volume is not published", name);
  }
  for (const uid of users) if (!known.has(uid)) broken(`the volume of the removed pod ${uid} is published`);
}
