// No pod is evicted for a disk before the node has removed unused images and containers of ended pods from it, and
// measured the disk again.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import type { DiskUse } from "../world/disk-use.js";
import { NO_AGE } from "../world/node-shape.js";
import { podNameOf } from "../world/pod-facts.js";
import { PRESSURES, type Signal, type Signals } from "../world/signals.js";
import type { World } from "../world/world.js";
import { isQuiet, onEviction } from "./eviction-orders.js";
import type { Broken, Invariant } from "./invariant.js";

/** The end of a pod is known to the kubelet after this time. */
const KNOWN_MS = 30_000;
/** The kubelet looks at the images every five minutes, and from then on counts their age, as upstream. */
const SEEN_MS = 5 * 60_000 + KNOWN_MS;
/** The larger one of the ages here. */
const AGE_MS = 2 * 60_000;

export const disksAreReclaimedFirst: Invariant = {
  name: "a disk is reclaimed before pods are evicted for it",
  promisedBy: "docs/adr/0030-eviction.md",
  watch(world, broken) {
    const { disks, signals } = world;
    if (disks === undefined || signals === undefined) return undefined;
    let removedAt = -Infinity;
    world.runtime.onEnd.add((verb, code) => {
      if (verb === "RemoveImage" && code === "OK") removedAt = kernel.monotonic;
    });
    onEviction(world, ({ name, signal }) => {
      if (signal === undefined || !isDisk(signal) || !isQuiet(world)) return;
      const { images, containers } = reclaimedFor(disks, signal);
      if (images) checkImages(world, disks, name, broken);
      if (images) checkMeasured(signals, removedAt, (what) => broken(what, name));
      if (containers) checkContainers(world, name, broken);
    });
    return undefined;
  },
};

const isDisk = (signal: Signal): boolean => PRESSURES[signal] === "DiskPressure";

/** What frees the disk of that signal. https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/ */
function reclaimedFor({ layout }: DiskUse, signal: Signal): { images: boolean; containers: boolean } {
  const isImages = signal.startsWith("imagefs");
  switch (layout) {
    case "single":
      return { images: true, containers: true };
    case "dedicated":
      return { images: isImages, containers: isImages };
    case "split":
      return { images: isImages, containers: !isImages };
  }
}

function checkImages({ runtime, facts, node }: World, disks: DiskUse, name: string, broken: Broken): void {
  const isOldAtOnce = node.fields["imageMinimumGCAge"] === NO_AGE;
  for (const [id, since] of disks.unusedImages) {
    const image = runtime.state.images.get(id);
    const age = kernel.monotonic - since;
    if (image === undefined || (since > facts.launchedAt && age < SEEN_MS + (isOldAtOnce ? 0 : AGE_MS))) continue;
    broken(`the pod is evicted, and ${image.repoTags[0]}, unused for ${Math.round(age)} ms, is not removed`, name);
  }
}

/** As upstream, any threshold of a disk is enough, its minimum reclaim included. */
function checkMeasured(signals: Signals, removedAt: number, broken: (what: string) => void): void {
  const near = signals.names.filter(isDisk).flatMap((signal) => signals.of(signal).map(({ nearAt }) => nearAt));
  if (Math.max(...near) < removedAt) broken("the pod is evicted for a disk, and images removed since are enough");
}

function checkContainers({ runtime, api }: World, name: string, broken: Broken): void {
  for (const { config, status } of runtime.state.containers.values()) {
    const pod = podNameOf(config.labels);
    const { phase } = (api.store.get("pods", "default", pod)?.status ?? {}) as { phase?: string };
    if (status.state !== ContainerState.CONTAINER_EXITED || (phase !== "Succeeded" && phase !== "Failed")) continue;
    const endedMs = kernel.wall - Number(status.finishedAt / 1_000_000n);
    if (endedMs > 2 * KNOWN_MS)
      broken(`the pod is evicted, and ${config.metadata?.name} of ${pod}, which has ended, is not removed`, name);
  }
}
