// Containers that write more and more for a while, on a node that runs short of disks, and priorities of pods.

import type { Random } from "../kernel/random.js";
import { priorityOf } from "../world/priorities.js";
import type { PodShape } from "./pod-shapes.js";

/** Part of the containers, and of the volumes, that grow. */
const SHARE = 0.8;
/** MiB a second. */
const SPEEDS = [5, 20, 50];
/** MiB of a container of a static pod. */
const STATIC_MIB = 100;
const TIMES_MS = [60_000, 120_000, 240_000];
/** Names of their classes; an empty one: 0. */
const CLASSES = ["", "", "medium", "highest"];

export class OwnGrowingWriters {
  constructor(private readonly random: Random) {}

  /** The pod as it is on this node. Those that start again and again, and static ones, do not grow. */
  shape(plain: PodShape): PodShape {
    const { disk, isSteady, isStatic } = plain;
    if (disk === undefined) return plain;
    if (isStatic) return { ...plain, disk: { layerMiB: small(disk.layerMiB), volumeMiB: small(disk.volumeMiB) } };
    const { random } = this;
    const spec = { ...plain.spec };
    const priorityClassName = random.pick(CLASSES);
    if (priorityClassName !== "") Object.assign(spec, { priorityClassName, priority: priorityOf(priorityClassName) });
    if (!isSteady) return { ...plain, spec };
    const names = (plain.spec["containers"] as { name: string }[]).map(({ name }) => name);
    const speeds = (of: readonly string[]): Record<string, number> =>
      Object.fromEntries(of.flatMap((name) => (random.chance(SHARE) ? [[name, random.pick(SPEEDS)]] : [])));
    const growth = {
      layerMiB: speeds(names),
      volumeMiB: speeds(isOnDisk(plain) ? Object.keys(disk.volumeMiB) : []),
      forMs: random.pick(TIMES_MS),
    };
    return { ...plain, spec, disk: { ...disk, growth } };
  }
}

/** Static pods are not evicted: without this they alone would fill the disk. */
function small(mebibytes: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(mebibytes).map(([name, each]) => [name, Math.min(each, STATIC_MIB)]));
}

/** The kernel keeps a volume in memory within its limit. */
function isOnDisk({ spec }: PodShape): boolean {
  const [volume] = (spec["volumes"] ?? []) as { emptyDir?: { medium?: string } }[];
  return volume?.emptyDir !== undefined && volume.emptyDir.medium !== "Memory";
}
