// Interfaces of the node and of pods, read from a process in the pod's sandbox. Read at most every ten seconds. The
// files are not kept open: that would keep the network namespace.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { CgroupReader } from "../../../shared/node/stats/cgroup-figures.js";
import type { ReadText } from "../../../shared/node/stats/kernel-file.js";
import { parseNetDev, type InterfaceFigures } from "../../../shared/node/stats/net-dev.js";
import type { PodReading } from "./readings.js";

/** Upstream's figures are as old. By then a number may be another process's. */
const LIFE_MS = 10_000;

export interface NetworkFigures {
  /** Milliseconds since the epoch. */
  at: number;
  interfaces: readonly InterfaceFigures[];
}

export class Networks {
  private readonly known = new Map<string, { readAt: number; figures: NetworkFigures | undefined }>();

  constructor(
    private readonly reader: Pick<CgroupReader, "processes">,
    private readonly read: ReadText,
    private readonly clock: Pick<Clock, "monotonic" | "now">,
  ) {}

  /** That of the node for a pod in its network. undefined: no process of the pod is known. */
  of(pod: PodReading | "node"): NetworkFigures | undefined {
    const path = pod === "node" ? "/" : pod.place.path;
    const now = this.clock.monotonic();
    const known = this.known.get(path);
    if (known?.figures !== undefined && now - known.readAt < LIFE_MS) return known.figures;
    const figures = this.figures(pod === "node" ? "self" : this.processOf(pod));
    this.known.set(path, { readAt: now, figures });
    return figures;
  }

  prune(): void {
    const now = this.clock.monotonic();
    for (const [path, { readAt }] of this.known) if (now - readAt >= 2 * LIFE_MS) this.known.delete(path);
  }

  private figures(pid: number | "self" | undefined): NetworkFigures | undefined {
    const text = pid === undefined ? undefined : this.read(`/proc/${pid}/net/dev`);
    return text === undefined ? undefined : { at: this.clock.now(), interfaces: parseNetDev(text) };
  }

  private processOf({ place }: PodReading): number | undefined {
    for (const path of [place.sandbox?.path, ...place.containers.map((container) => container.path)]) {
      const [pid] = path === undefined ? [] : this.reader.processes(path);
      if (pid !== undefined) return pid;
    }
    return undefined;
  }
}
