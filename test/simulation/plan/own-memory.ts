// Pods with memory of chosen NUMA nodes, on a node with the memory manager's static policy: the Guaranteed ones.

import type { Random } from "../kernel/random.js";
import type { PodShape } from "./pod-shapes.js";

/** What a container asks for, MiB: a few of the larger ones fill a NUMA node. */
const SIZES = [16, 512, 1024, 2048, 3072];

interface Container {
  name: string;
  resources?: { requests?: object; limits?: object };
}

export class OwnMemory {
  constructor(private readonly random: Random) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    if (plain.cpus === undefined) return plain;
    const memory: Record<string, number> = {};
    const sized = (container: Container): Container => {
      const mebibytes = this.random.pick(SIZES);
      memory[container.name] = mebibytes;
      const values = { ...container.resources?.requests, memory: `${mebibytes}Mi` };
      return { ...container, resources: { requests: values, limits: values } };
    };
    const spec = { ...plain.spec };
    for (const member of ["initContainers", "containers"]) {
      const containers = spec[member] as Container[] | undefined;
      if (containers !== undefined) spec[member] = containers.map(sized);
    }
    return { ...plain, spec, memory };
  }
}
