// Memory of NUMA nodes that containers have for themselves is given once: what those on some nodes have together is
// there. A container keeps its nodes over its restarts and the kubelet's.

import { parseCpuList } from "../../../src/shared/kubernetes/api/cpu-list.js";
import { ContainerEventType, ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { MACHINE_MIB, RESERVED_MIB } from "../world/node-shape.js";
import { podNameOf } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import type { Invariant } from "./invariant.js";

interface Holder {
  pod: string;
  /** Pod UID and container name. */
  key: string;
  name: string;
  mebibytes: number;
  /** NUMA nodes. */
  nodes: readonly number[];
}

export const memoryIsGivenOnce: Invariant = {
  name: "memory of NUMA nodes is given once",
  promisedBy: "docs/adr/0105-cpu-and-memory-manager.md",
  watch(world, broken) {
    if (!world.node.hasOwnMemory) return undefined;
    const ofEachNode = MACHINE_MIB / (world.node.layout?.sockets ?? 1);
    /** Containers that had memory, by key. */
    let had = new Map<string, Holder>();
    world.onFault.add((kind) => {
      // Nothing runs on: pods that are admitted again may get other memory.
      if (kind === "reboot") had = new Map();
    });
    const check = (): void => {
      const all = holders(world);
      for (const holder of all) {
        const { name, pod, key, nodes } = holder;
        if (nodes.length === 0) broken(`${name} asked for memory of its own and may use any node`, pod);
        const inside = all.filter((other) => other.nodes.every((node) => nodes.includes(node)));
        const taken = inside.reduce((sum, { mebibytes }) => sum + mebibytes, 0);
        const there = ofEachNode * nodes.length - (nodes.includes(0) ? RESERVED_MIB : 0);
        if (taken > there)
          broken(`containers on the nodes ${nodes.join()} have ${taken} MiB, and there are ${there}`, pod);
        const before = had.get(key)?.nodes.join();
        had.set(key, holder);
        if (before !== undefined && before !== nodes.join())
          broken(`${name} had memory of the nodes ${before}, and has it of ${nodes.join()}`, pod);
      }
    };
    world.runtime.state.eventListeners.add(({ containerEventType }) => {
      if (containerEventType === ContainerEventType.CONTAINER_STARTED_EVENT) check();
    });
    return () => {
      for (const [key, { pod }] of had) if (!world.facts.pods.has(pod)) had.delete(key);
    };
  },
};

/** Running containers that asked for memory of their own. */
function holders({ runtime, facts }: World): Holder[] {
  const running: Holder[] = [];
  for (const { config, status } of runtime.state.containers.values()) {
    if (status.state !== ContainerState.CONTAINER_RUNNING) continue;
    const pod = podNameOf(config.labels);
    const name = config.metadata?.name ?? "";
    const mebibytes = facts.pods.get(pod)?.shape.memory?.[name];
    if (mebibytes === undefined) continue;
    const nodes = parseCpuList(config.linux?.resources?.cpusetMems ?? "") ?? [];
    running.push({ pod, key: `${config.labels["io.kubernetes.pod.uid"]}/${name}`, name, mebibytes, nodes });
  }
  return running;
}
