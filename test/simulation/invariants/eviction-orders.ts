// The kubelet's evictions, as its log reports them.

import { kernel } from "../kernel/kernel.js";
import type { DiskLayout } from "../world/disk-use.js";
import { plainName } from "../world/pod-facts.js";
import { SIGNALS, type Signal } from "../world/signals.js";
import type { World } from "../world/world.js";

const ORDER = /^evicting pod ([^_]+)_/;
/** Longer than any fault, and a stall after it. */
const QUIET_MS = 90_000;

export interface EvictionOrder {
  /** Name of the pod. */
  name: string;
  /** Undefined: the pod exceeds a limit of its own. */
  signal: Signal | undefined;
  /** As the kubelet reports it: "nodefs.available", "emptydirfs.limit". */
  cause: string;
  graceSeconds: number;
}

export function onEviction(world: World, listener: (order: EvictionOrder) => void): void {
  world.onLog.add(({ msg, signal = "", graceSeconds = 0 }) => {
    const name = evictedPod(msg);
    if (name !== undefined) listener({ name, signal: signalOf(signal, world.node.disks), cause: signal, graceSeconds });
  });
}

/** The pod whose eviction a line of the kubelet's log reports. */
function evictedPod(message: string): string | undefined {
  const name = ORDER.exec(message)?.[1];
  return name === undefined ? undefined : plainName(name);
}

/** Since a while nothing happens but shortages. */
export function isQuiet({ facts }: World, sinceMs = QUIET_MS): boolean {
  const since = kernel.monotonic - sinceMs;
  return facts.lastDisturbedAt < since && (facts.startedAt ?? Infinity) < since;
}

/** Containers' disk is one of the two others. */
function signalOf(cause: string, disks: DiskLayout = "single"): Signal | undefined {
  const known = cause
    .replace("allocatableMemory.", "memory.")
    .replace("containerfs.", disks === "dedicated" ? "imagefs." : "nodefs.");
  return SIGNALS.find((signal) => signal === known);
}
