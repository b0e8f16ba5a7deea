// Pods with devices, on a node with a device plugin, and faults of the plugin.

import type { Random } from "../kernel/random.js";
import { RESOURCE } from "../world/device-plugin.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

/** Part of the pods that ask for devices. */
const SHARE = 0.4;
/** Part of the faults that are the plugin's. */
const FAULTS = 0.25;

interface Container {
  name: string;
  resources?: { requests?: object; limits?: object };
}

export class OwnDevices {
  constructor(private readonly random: Random) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    if (!this.random.chance(SHARE)) return plain;
    const devices: Record<string, number> = {};
    const asking = (container: Container): Container => {
      if (!this.random.chance(0.7)) return container;
      const count = this.random.pick([1, 1, 2]);
      devices[container.name] = count;
      const { requests, limits } = container.resources ?? {};
      const more = { [RESOURCE]: String(count) };
      return { ...container, resources: { requests: { ...requests, ...more }, limits: { ...limits, ...more } } };
    };
    const spec = { ...plain.spec };
    for (const member of ["initContainers", "containers"]) {
      const containers = spec[member] as Container[] | undefined;
      if (containers !== undefined) spec[member] = containers.map(asking);
    }
    return { ...plain, spec, devices };
  }

  /** Undefined: the fault is another one. */
  fault(): Action | undefined {
    const { random } = this;
    if (!random.chance(FAULTS)) return undefined;
    const ms = 1000 + random.below(40_000);
    switch (random.below(3)) {
      case 0:
        return { do: "plugin-dies", ms };
      case 1:
        return { do: "plugin-slow", lateMs: random.below(30_000), ms };
      default:
        return { do: "device-sick", pick: random.below(1000), ms };
    }
  }
}
