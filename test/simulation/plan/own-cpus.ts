// Pods with CPUs of their own, on a node with the CPU manager's static policy. It changes pods of the plan: a plain
// node gets the plan that it had without this file.

import type { Random } from "../kernel/random.js";
import type { NodeShape } from "../world/node-shape.js";
import type { Action } from "./events.js";
import { MEMORY, type PodShape } from "./pod-shapes.js";

/** Part of the pods that are Guaranteed. */
const SHARE = 0.6;
/** Part of the runtime's errors that meet the call by which containers move to other CPUs. */
const UPDATES = 0.3;
/** Request of a Guaranteed container that shares the pool. */
const SHARED = "100m";

type Container = Record<string, unknown> & { name: string };

export class OwnCpus {
  constructor(
    private readonly random: Random,
    private readonly node: NodeShape,
    private readonly alive: readonly PodShape[],
  ) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    const spec = { ...plain.spec };
    // A critical pod would end others to get room.
    delete spec["priority"];
    delete spec["priorityClassName"];
    if (!this.random.chance(SHARE)) return { ...plain, spec };
    const cpus: Record<string, number> = {};
    let free = this.free();
    const guaranteed = (container: Container): Container => {
      const wanted = this.random.pick([0, 1, 1, 2, 2]);
      const count = wanted <= free ? wanted : 0;
      free -= count;
      if (count > 0) cpus[container.name] = count;
      const values = { cpu: count > 0 ? String(count) : SHARED, memory: MEMORY };
      return { ...container, resources: { requests: values, limits: values } };
    };
    for (const member of ["initContainers", "containers"]) {
      const containers = spec[member] as Container[] | undefined;
      if (containers !== undefined) spec[member] = containers.map(guaranteed);
    }
    return { ...plain, spec, cpus };
  }

  fault(fault: Action): Action {
    if (fault.do !== "runtime-error" || !this.random.chance(UPDATES)) return fault;
    return { ...fault, verb: "UpdateContainerResources" };
  }

  /** CPUs that pods of the plan may still ask for: one is left to those that share. */
  private free(): number {
    const { cpus, reserved = [] } = this.node;
    const taken = this.alive.flatMap((shape) => Object.values(shape.cpus ?? {})).reduce((sum, one) => sum + one, 0);
    return cpus - reserved.length - 1 - taken;
  }
}
