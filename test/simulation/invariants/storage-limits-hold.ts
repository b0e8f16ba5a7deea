// A pod that exceeds a limit of ephemeral storage, its own, a container's or a volume's, is evicted, and no other pod
// is for such a limit.

import { podLimits } from "../../../src/shared/kubernetes/api/pod-requests.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { value } from "../../../src/shared/kubernetes/api/quantity.js";
import type { Quantity } from "../../../src/shared/kubernetes/api/scalars.js";
import { ContainerEventType, ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import type { PodShape } from "../plan/pod-shapes.js";
import { SMALL_MIB, type DiskUse } from "../world/disk-use.js";
import { podNameOf } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import { isQuiet, onEviction } from "./eviction-orders.js";
import type { Broken, Invariant } from "./invariant.js";

const MIB = 1024 * 1024;
/** The kubelet measures such pods every ten seconds, and not while another pod is being evicted. */
const NOTICED_MS = 90_000;
const LOOK_MS = 20_000;

export const storageLimitsHold: Invariant = {
  name: "a pod above its limits of ephemeral storage is evicted",
  promisedBy: "docs/adr/0030-eviction.md",
  watch(world, broken) {
    const { disks } = world;
    if (disks === undefined || world.node.hasStorageLimits !== true) return undefined;
    onEviction(world, ({ name, signal, cause }) => {
      const shape = world.facts.pods.get(name)?.shape;
      if (signal !== undefined || shape === undefined) return;
      if (!exceeds(shape, mostOf(world, name, shape), disks, -SMALL_MIB))
        broken(`the pod is evicted for ${cause}, and is within its limits`, name);
    });
    world.runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType !== ContainerEventType.CONTAINER_STARTED_EVENT) return;
      const name = podNameOf(world.runtime.state.containers.get(containerId)?.config.labels ?? {});
      const { forMs = 0 } = world.facts.pods.get(name)?.shape.disk?.growth ?? {};
      // A container that writes more and more may exceed a limit at any time.
      for (let later = 0; later <= forMs; later += LOOK_MS)
        if (name !== "") kernel.after(kernel.world, NOTICED_MS + later, () => checkEvicted(world, disks, name, broken));
    });
    return undefined;
  },
};

/** What the pod has of the disk, MiB: of its containers by name, and of its volume. */
interface Had {
  layers: ReadonlyMap<string, number>;
  volume: number;
}

/** Once all of its containers have run, from its creation to this moment. */
function mostOf({ facts }: World, name: string, { disk }: PodShape): Had {
  const { growth, layerMiB = {}, volumeMiB = {} } = disk ?? {};
  const seconds = Math.min(growth?.forMs ?? 0, kernel.monotonic - (facts.pods.get(name)?.createdAt ?? 0)) / 1000;
  const grown = (mebibytes: number, speed = 0): number => mebibytes + speed * seconds;
  const volumes = Object.entries(volumeMiB).map(([own, mebibytes]) => grown(mebibytes, growth?.volumeMiB[own]));
  const layers = Object.entries(layerMiB).map(
    ([own, mebibytes]) => [own, grown(mebibytes, growth?.layerMiB[own])] as const,
  );
  return { layers: new Map(layers), volume: volumes.reduce((sum, mebibytes) => sum + mebibytes, 0) };
}

/** By more than `margin`. */
function exceeds({ spec }: PodShape, { layers, volume }: Had, { layout }: DiskUse, margin: number): boolean {
  const { containers, volumes = [] } = spec as unknown as Pod["spec"];
  const over = (used: number, limit: Quantity | undefined): boolean =>
    limit !== undefined && used > Number(value(limit)) / MIB + margin;
  const [scratch] = volumes.filter(({ name, emptyDir }) => name === "scratch" && emptyDir?.medium !== "Memory");
  if (over(volume, scratch?.emptyDir?.sizeLimit)) return true;
  // Layers that are not on the kubelet's disk count for the pod only.
  const counted = layout === "dedicated" ? new Map<string, number>() : layers;
  if (containers.some(({ name, resources }) => over(counted.get(name) ?? 0, resources?.limits?.["ephemeral-storage"])))
    return true;
  const whole = podLimits({ spec } as unknown as Pod).get("ephemeral-storage");
  const used = [...layers.values()].reduce((sum, mebibytes) => sum + mebibytes, scratch === undefined ? 0 : volume);
  return whole !== undefined && used > Number(value(whole)) / MIB + margin;
}

function checkEvicted(world: World, disks: DiskUse, name: string, broken: Broken): void {
  const pod = world.facts.pods.get(name);
  if (pod === undefined || pod.shape.isStatic || pod.shape.hasDeadline || !isQuiet(world, NOTICED_MS)) return;
  if (pod.deletedAt !== undefined || pod.disturbedAt !== undefined || pod.editedAt !== undefined) return;
  const own = [...world.runtime.state.containers.values()].filter(({ config }) => podNameOf(config.labels) === name);
  const isRunning = own.some(({ status }) => status.state === ContainerState.CONTAINER_RUNNING);
  const startedAt = Math.max(...own.map(({ status }) => Number(status.startedAt / 1_000_000n)));
  // Another one started meanwhile, or ended.
  if (!isRunning || kernel.wall - startedAt < NOTICED_MS) return;
  // Since so long, at least.
  const at = kernel.monotonic - NOTICED_MS;
  const had = { layers: disks.layersOf(name, at), volume: disks.volumeMiB(name, at) };
  if (exceeds(pod.shape, had, disks, SMALL_MIB))
    broken(`the pod exceeds its limits of ephemeral storage for ${NOTICED_MS} ms, and is not evicted`, name);
}
