// The devices of each resource, by the last report of their plugin.
// Invariant: no device of a stopped plugin is allocated; its devices are counted for the grace period, since the plugin
// may come back; after that the resource is shown with none.

import { MAX_RESOURCES } from "./plugin-limits.js";
import type { Devices } from "./plugin-port.js";

/** The devices of a plugin that stopped count as the node's for this time (docs: device plugins), ms. */
const STOP_GRACE_MS = 5 * 60_000;

interface Known {
  devices: Devices;
  /** Ids of the healthy ones, in the plugin's order. */
  healthy: ReadonlySet<string>;
  /** Monotonic ms; undefined: the plugin is connected. */
  stoppedAt: number | undefined;
}

/** The result of a comparison with the list before. */
export interface ListChange {
  healthy: ReadonlySet<string>;
  /** Ids whose health changed. */
  health: readonly string[];
  changed: boolean;
}

/** Devices of one step of a comparison. */
const PIECE = 1000;

const NONE: Devices = new Map();
const EMPTY = { devices: NONE, healthy: new Set<string>() };

export class DevicePool {
  private readonly resources = new Map<string, Known>();
  /** Resources that had devices once: the node continues to show them, with 0. */
  private readonly gone = new Set<string>();

  has(resource: string): boolean {
    return this.resources.has(resource);
  }

  /** Names that the node shows, or may show: those of plugins that went count, too. */
  hasRoomFor(resource: string): boolean {
    if (this.resources.has(resource) || this.gone.has(resource)) return true;
    return this.resources.size + this.gone.size < MAX_RESOURCES;
  }

  /** A resource of an earlier kubelet process: it has no devices until its plugin registers again. */
  restore(resource: string, now: number): void {
    if (!this.resources.has(resource)) this.resources.set(resource, { ...EMPTY, stoppedAt: now });
  }

  /** Until the plugin reports its devices, the old ones stay: those of a stopped plugin are not allocated. */
  connected(resource: string): void {
    if (!this.resources.has(resource)) this.resources.set(resource, { ...EMPTY, stoppedAt: undefined });
    this.gone.delete(resource);
  }

  /** Compares a list with the one before, in pieces: each step takes about a millisecond. Changes nothing. */
  *compare(resource: string, devices: Devices): Generator<void, ListChange> {
    const before = this.devices(resource);
    const healthy = new Set<string>();
    const health: string[] = [];
    let changed = before.size !== devices.size;
    let count = 0;
    for (const [id, device] of devices) {
      if (++count % PIECE === 0) yield;
      if (device.healthy) healthy.add(id);
      const old = before.get(id);
      if (old?.healthy !== device.healthy) health.push(id);
      else if (!areSame(old.nodes, device.nodes)) changed = true;
    }
    return { healthy, health, changed: changed || health.length > 0 };
  }

  /** @returns whether anything changed: health, topology, the set of ids, or the connection */
  update(resource: string, devices: Devices, { healthy, changed }: ListChange): boolean {
    const known = this.resources.get(resource);
    this.resources.set(resource, { devices, healthy, stoppedAt: undefined });
    this.gone.delete(resource);
    return changed || known === undefined || known.stoppedAt !== undefined;
  }

  stopped(resource: string, now: number): void {
    const known = this.resources.get(resource);
    if (known !== undefined) known.stoppedAt = now;
  }

  /** Monotonic ms; undefined: all plugins are connected. */
  nextExpiry(): number | undefined {
    const stops = [...this.resources.values()].flatMap(({ stoppedAt }) => (stoppedAt === undefined ? [] : [stoppedAt]));
    return stops.length === 0 ? undefined : Math.min(...stops) + STOP_GRACE_MS;
  }

  /** @returns the resources whose plugins have been away for the grace period; they are forgotten */
  expire(now: number): string[] {
    const expired = [...this.resources].flatMap(([resource, { stoppedAt }]) =>
      stoppedAt !== undefined && now - stoppedAt >= STOP_GRACE_MS ? [resource] : [],
    );
    for (const resource of expired) {
      this.resources.delete(resource);
      this.gone.add(resource);
    }
    return expired;
  }

  /** All of them, healthy or not. */
  devices(resource: string): Devices {
    return this.resources.get(resource)?.devices ?? NONE;
  }

  /** Those that may be handed out, in the plugin's order. */
  usable(resource: string): ReadonlySet<string> {
    const known = this.resources.get(resource);
    return known === undefined || known.stoppedAt !== undefined ? EMPTY.healthy : known.healthy;
  }

  names(): string[] {
    return [...this.resources.keys()].sort();
  }

  /** As the node shows them: capacity counts all, allocatable those that may be handed out. */
  counts(): { capacity: Map<string, number>; allocatable: Map<string, number> } {
    const [capacity, allocatable] = [new Map<string, number>(), new Map<string, number>()];
    for (const resource of this.gone) {
      capacity.set(resource, 0);
      allocatable.set(resource, 0);
    }
    for (const [resource, { devices }] of this.resources) {
      capacity.set(resource, devices.size);
      allocatable.set(resource, this.usable(resource).size);
    }
    return { capacity, allocatable };
  }
}

function areSame(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((node, at) => node === b[at]));
}
