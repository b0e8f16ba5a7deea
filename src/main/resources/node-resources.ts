// Current capacity and allocatable of the node: the machine's resources, and the devices of plugins, which may change.

import type { ExactQuantity } from "../../shared/kubernetes/api/quantity.js";
import type { NodeResources } from "./node-capacity.js";

export interface NodeAmounts {
  capacity: NodeResources;
  allocatable: NodeResources;
}

/** Resource name to how many. */
export interface DeviceCounts {
  capacity: ReadonlyMap<string, number>;
  allocatable: ReadonlyMap<string, number>;
}

export class NodeResourcesHolder {
  private joined: NodeAmounts;
  private devices: NodeAmounts = { capacity: new Map(), allocatable: new Map() };
  private readonly listeners = new Set<(now: NodeAmounts) => void>();

  constructor(private readonly machine: NodeAmounts) {
    this.joined = machine;
  }

  get capacity(): NodeResources {
    return this.joined.capacity;
  }

  get allocatable(): NodeResources {
    return this.joined.allocatable;
  }

  /** Called at each change from now on. Returns how to end it. */
  onChange(listener: (now: NodeAmounts) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  setDevices({ capacity, allocatable }: DeviceCounts): void {
    this.devices = { capacity: amounts(capacity), allocatable: amounts(allocatable) };
    this.join();
  }

  private join(): void {
    const before = this.joined;
    this.joined = {
      capacity: new Map([...this.machine.capacity, ...this.devices.capacity]),
      allocatable: new Map([...this.machine.allocatable, ...this.devices.allocatable]),
    };
    if (same(before.capacity, this.capacity) && same(before.allocatable, this.allocatable)) return;
    for (const listener of this.listeners) listener(this.joined);
  }
}

/** At least so many of each: pods that have their devices fit, though the plugin is away. */
export function raisedTo(resources: NodeResources, counts: ReadonlyMap<string, number>): NodeResources {
  const short = [...amounts(counts)].filter(([name, { nanos }]) => (resources.get(name)?.nanos ?? 0n) < nanos);
  return short.length === 0 ? resources : new Map([...resources, ...short]);
}

function amounts(counts: ReadonlyMap<string, number>): Map<string, ExactQuantity> {
  return new Map(
    [...counts].map(([name, count]) => [name, { nanos: BigInt(count) * 1_000_000_000n, format: "DecimalSI" }]),
  );
}

function same(a: NodeResources, b: NodeResources): boolean {
  return a.size === b.size && [...a].every(([name, { nanos }]) => b.get(name)?.nanos === nanos);
}
