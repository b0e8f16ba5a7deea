// Pods that use the disk, on a node that runs short of it, and the shortages. On some nodes pods have limits of
// ephemeral storage, which some of them exceed.

import type { Random } from "../kernel/random.js";
import { hasSoftThresholds, type NodeShape } from "../world/node-shape.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

/** Sizes of files that a container writes to its layer and to a volume, MiB. */
const LAYERS = [1, 20, 200, 800, 2500];
const FILES = [0, 100, 1000, 3000];
const FILES_IN_MEMORY = [0, 50, 500];
/** Part of the pods that request some. */
const REQUESTS = 0.4;
/** Part of the containers and volumes that have a limit, and of the limits that are too low. */
const LIMITS = 0.5;
const TOO_LOW = 0.4;
/** Part of the faults that are shortages, and pulls of images. */
const FAULTS = 0.25;
const PULLS = 0.2;
/** MiB below the threshold; thousands of inodes below it. */
const MISSING = [100, 800, 2000, 4000];
const MISSING_INODES = [1, 5, 20];

interface Resources {
  requests?: Record<string, string>;
  limits?: Record<string, string>;
}

export class OwnDisk {
  constructor(
    private readonly random: Random,
    private readonly node: NodeShape,
  ) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    const { random } = this;
    const layerMiB: Record<string, number> = {};
    const volumeMiB: Record<string, number> = {};
    const spec: Record<string, unknown> = { ...plain.spec };
    for (const member of ["initContainers", "containers"]) {
      const containers = plain.spec[member] as { name: string; resources?: Resources }[] | undefined;
      if (containers === undefined) continue;
      spec[member] = containers.map((container) => {
        const layer = (layerMiB[container.name] = random.pick(LAYERS));
        return this.limited(container, layer);
      });
    }
    const [volume] = (plain.spec["volumes"] ?? []) as { name: string; emptyDir?: { medium?: string } }[];
    if (volume?.emptyDir !== undefined && volume.name === "scratch") {
      const isInMemory = volume.emptyDir.medium === "Memory";
      const mebibytes = (volumeMiB["c0"] = random.pick(isInMemory ? FILES_IN_MEMORY : FILES));
      // The kernel keeps a volume in memory within its limit.
      const sizeLimit = `${this.limitFor(mebibytes, !isInMemory)}Mi`;
      const limited = { ...volume, emptyDir: { ...volume.emptyDir, sizeLimit } };
      if (this.node.hasStorageLimits === true && random.chance(LIMITS)) {
        spec["volumes"] = [limited, ...((plain.spec["volumes"] ?? []) as unknown[]).slice(1)];
      }
    }
    return { ...plain, disk: { layerMiB, volumeMiB }, spec };
  }

  /** Undefined: the fault is another one. */
  fault(): Action | undefined {
    const { random } = this;
    const share = random.next();
    if (share < PULLS) {
      const mebibytes = Array.from({ length: 1 + random.below(3) }, () => random.pick([300, 800, 1600]));
      return { do: "images-pulled", mebibytes };
    }
    if (share >= PULLS + FAULTS) return undefined;
    return this.shortage(5000 + random.below(115_000));
  }

  /** A shortage that no other fault comes with. */
  quiet(): Action {
    return this.shortage(100_000 + this.random.below(50_000));
  }

  private shortage(ms: number): Action {
    const { random } = this;
    const place = random.pick(["nodefs", "imagefs"] as const);
    if (random.chance(0.15)) {
      const signal = `${place}.inodesFree` as const;
      return {
        do: "disk-short",
        signal,
        below: "hard",
        missing: random.pick(MISSING_INODES),
        ms: Math.min(ms, 30_000),
      };
    }
    const below = hasSoftThresholds(this.node) && random.chance(0.6) ? "soft" : "hard";
    return { do: "disk-short", signal: `${place}.available`, below, missing: random.pick(MISSING), ms };
  }

  /** The container with a request, and perhaps a limit. */
  private limited<T extends { resources?: Resources }>(container: T, mebibytes: number): T {
    const { random } = this;
    const hasRequest = random.chance(REQUESTS);
    const hasLimit = this.node.hasStorageLimits === true && random.chance(LIMITS);
    if (!hasRequest && !hasLimit) return container;
    const { requests, limits } = container.resources ?? {};
    const limit = this.limitFor(mebibytes, true);
    const request = hasLimit ? Math.min(limit, 50) : random.pick([50, 500]);
    const resources: Resources = { ...container.resources };
    resources.requests = { ...requests, "ephemeral-storage": `${request}Mi` };
    if (hasLimit) resources.limits = { ...limits, "ephemeral-storage": `${limit}Mi` };
    return { ...container, resources };
  }

  /** MiB; far from the use. */
  private limitFor(mebibytes: number, mayBeTooLow: boolean): number {
    const isTooLow = mayBeTooLow && mebibytes >= 20 && this.random.chance(TOO_LOW);
    return isTooLow ? Math.ceil(mebibytes / 2) : 2 * mebibytes + 100;
  }
}
