// A CPU that a container has for itself is no other container's, and never a reserved one. The container keeps its CPUs
// until its pod has ended, over restarts of the container and of the kubelet.

import { printCpuList } from "../../../src/shared/kubernetes/api/cpu-list.js";
import { onCpusOf, runningContainerCpus, type ContainerCpus } from "../world/container-cpus.js";
import type { Broken, Invariant } from "./invariant.js";

export const cpusAreGivenOnce: Invariant = {
  name: "exclusive CPUs are given once",
  promisedBy: "docs/adr/0105-cpu-and-memory-manager.md",
  watch(world, broken) {
    const { reserved } = world.node;
    if (reserved === undefined) return undefined;
    /** Containers that had CPUs of their own, by pod UID and container name. */
    let had = new Map<string, ContainerCpus>();
    world.onFault.add((kind) => {
      // Nothing runs on: pods that are admitted again may get other CPUs.
      if (kind === "reboot") had = new Map();
    });
    const check = (): void => {
      const owners = new Map<number, ContainerCpus>();
      for (const container of runningContainerCpus(world)) {
        const { own, pod, podUid, name, cpus } = container;
        if (own === 0) continue;
        const list = printCpuList(cpus);
        if (cpus.size !== own) broken(`${name} asked for ${own} CPUs of its own and runs on ${list}`, pod);
        for (const cpu of cpus) checkOwner(cpu, container, owners, broken);
        const common = reserved.filter((cpu) => cpus.has(cpu));
        if (common.length > 0) broken(`${name} has the reserved CPUs ${printCpuList(common)}`, pod);
        const before = had.get(`${podUid}/${name}`);
        had.set(`${podUid}/${name}`, container);
        if (before === undefined || printCpuList(before.cpus) === list) continue;
        broken(`${name} had the CPUs ${printCpuList(before.cpus)} for itself, and runs on ${list}`, pod);
      }
    };
    onCpusOf(world, check);
    return () => {
      check();
      for (const [key, { pod }] of had) if (!world.facts.pods.has(pod)) had.delete(key);
    };
  },
};

function checkOwner(cpu: number, container: ContainerCpus, owners: Map<number, ContainerCpus>, broken: Broken): void {
  const other = owners.get(cpu);
  owners.set(cpu, container);
  if (other !== undefined)
    broken(`CPU ${cpu} belongs to ${container.name}, and to ${other.name} of ${other.pod}`, container.pod);
}
