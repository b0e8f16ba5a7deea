// Interfaces of the node, and of pods that have a network of their own: of a process in the pod's sandbox.
import type { CgroupReader } from "../../../shared/stats/cgroup-figures.js";
import type { ReadText } from "../../../shared/stats/kernel-file.js";
import { parseNetDev, type InterfaceFigures } from "./net-dev.js";
import type { PodReading } from "./readings.js";

export class Networks {
  constructor(
    private readonly reader: Pick<CgroupReader, "processes">,
    private readonly read: ReadText,
  ) {}

  /** undefined: the pod has none of its own, or nobody is there to ask. */
  of(pod: PodReading | "node"): readonly InterfaceFigures[] | undefined {
    const pid = pod === "node" ? "self" : this.processOf(pod);
    const text = pid === undefined ? undefined : this.read(`/proc/${pid}/net/dev`);
    return text === undefined ? undefined : parseNetDev(text);
  }

  private processOf({ place }: PodReading): number | undefined {
    if (place.pod.spec.hostNetwork === true) return undefined;
    for (const path of [place.sandbox?.path, ...place.containers.map((container) => container.path)]) {
      const [pid] = path === undefined ? [] : this.reader.processes(path);
      if (pid !== undefined) return pid;
    }
    return undefined;
  }
}
