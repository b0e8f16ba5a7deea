// Resource usage of pods: memory and processes from their cgroups, at once; disk from main's walks and the runtime,
// which take longer. Unknown values are undefined, never 0.

import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { EvictionPod, EvictionUpcalls, PodDiskUsage } from "../../shared/contracts/eviction.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { CgroupReader } from "../../shared/node/stats/cgroup-figures.js";
import type { PodCgroups } from "../../shared/node/stats/pod-cgroups.js";
import type { LastingErrors } from "../../shared/telemetry/log/lasting-errors.js";
import type { Layers } from "./pod-storage.js";
import type { WritableLayers } from "./writable-layers.js";

/** Limit for data in an order's message: without a reply from main the order is sent without it. */
const NAMES_WAIT_MS = 300;
/** Added to main's time for walks. */
const CALL_WAIT_MS = 1000;

export interface PodFiguresDeps {
  reader: Pick<CgroupReader, "memory" | "processes" | "children">;
  cgroups: Pick<PodCgroups, "pathOf">;
  layers: Pick<WritableLayers, "now" | "known">;
  /** Main, with a deadline in ms. */
  main: (deadlineMs: number) => Pick<EvictionUpcalls, "podDisks" | "runningContainers">;
  errorLog: LastingErrors;
}

export class PodFigures {
  private readonly disks = new Map<PodUid, PodDiskUsage>();

  constructor(private readonly deps: PodFiguresDeps) {}

  /** Bytes; a pod without a cgroup takes none. */
  memoryOf(pod: EvictionPod): number {
    const path = this.deps.cgroups.pathOf(pod);
    return (path === undefined ? undefined : this.deps.reader.memory(path)?.workingSet) ?? 0;
  }

  /** In the pod's cgroup and those below. */
  processesOf(pod: EvictionPod): number {
    const path = this.deps.cgroups.pathOf(pod);
    return path === undefined ? 0 : this.processesBelow(path);
  }

  /** Bytes of each container, by name; empty if main does not name the containers in time. */
  async containersMemory(pod: EvictionPod): Promise<Map<string, number>> {
    const path = this.deps.cgroups.pathOf(pod);
    const memory = new Map<string, number>();
    if (path === undefined) return memory;
    const running = await this.deps
      .main(NAMES_WAIT_MS)
      .runningContainers(pod.uid)
      .catch(() => []);
    const children = this.deps.reader.children(path);
    for (const { name, id } of running) {
      const child = children.find((each) => each.includes(id));
      const figures = child === undefined ? undefined : this.deps.reader.memory(`${path}/${child}`);
      if (figures !== undefined) memory.set(name, figures.workingSet);
    }
    return memory;
  }

  /**
   * Updates the disk figures of these pods as far as possible within the time. Never rejects.
   * @param layers also update the runtime's figures
   */
  async measure(uids: readonly PodUid[], maxAgeMs: number, withinMs: number, layers: boolean): Promise<void> {
    const walks = async (): Promise<void> => {
      const key = "pod disks";
      const { main, errorLog } = this.deps;
      try {
        const found = await main(withinMs + CALL_WAIT_MS).podDisks([...uids], maxAgeMs, withinMs);
        for (const disk of found) this.disks.set(disk.uid, disk);
        errorLog.resolved(key, "measuring the pods' disk usage succeeded again");
      } catch (error) {
        errorLog.report(key, "cannot measure the pods' disk usage; using the last values", error);
      }
    };
    await Promise.all([walks(), layers ? this.deps.layers.now() : undefined]);
  }

  diskOf(pod: EvictionPod): PodDiskUsage | undefined {
    return this.disks.get(pod.uid);
  }

  layersOf(pod: EvictionPod): Layers | undefined {
    return this.deps.layers.known.get(pod.uid);
  }

  /** Bytes in the pod's memory-backed volumes, by name. */
  async inMemory(pod: EvictionPod): Promise<Map<string, number>> {
    const used = new Map<string, number>();
    for (const { name, path, memory } of pod.volumes) {
      const bytes = memory ? await bytesInMemory(path) : undefined;
      if (bytes !== undefined) used.set(name, bytes);
    }
    return used;
  }

  forget(uid: PodUid): void {
    this.disks.delete(uid);
  }

  private processesBelow(path: string): number {
    const { reader } = this.deps;
    return reader
      .children(path)
      .reduce((sum, child) => sum + this.processesBelow(`${path}/${child}`), reader.processes(path).length);
  }
}

/** undefined: nothing is mounted there, and statfs would describe another file system. */
async function bytesInMemory(path: string): Promise<number | undefined> {
  try {
    const [inside, outside] = await Promise.all([stat(path), stat(dirname(path))]);
    if (inside.dev === outside.dev) return undefined;
    const { bsize, blocks, bfree } = await statfs(path);
    return (blocks - bfree) * bsize;
  } catch {
    // The volume is not set up yet, or is torn down.
    return undefined;
  }
}
