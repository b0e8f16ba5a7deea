// What the kubelet has read of the machine's memory, disks and process ids, and what its thresholds make of it: which
// are met, since when, and which justify an eviction. Computed from its configuration and the values that it read.
// https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/

import { kernel } from "../kernel/kernel.js";
import type { NodeShape } from "./node-shape.js";

export const SIGNALS = [
  "memory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "pid.available",
] as const;
export type Signal = (typeof SIGNALS)[number];

export const PRESSURES: Readonly<Record<Signal, string>> = {
  "memory.available": "MemoryPressure",
  "nodefs.available": "DiskPressure",
  "nodefs.inodesFree": "DiskPressure",
  "imagefs.available": "DiskPressure",
  "imagefs.inodesFree": "DiskPressure",
  "pid.available": "PIDPressure",
};

const MIB = 1024 * 1024;
/** The kubelet's own, where its configuration has none. */
const DEFAULTS: Readonly<Record<string, string>> = {
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
  "imagefs.available": "15%",
  "imagefs.inodesFree": "5%",
};
/** The kubelet takes a sample a moment after it has read the disks, which may have begun the time of grace. */
const GRACE_SLACK_MS = 1000;

type Texts = Readonly<Record<string, string>> | undefined;

export class Threshold {
  /** Steady moments, ms. Since when each reading has met it; undefined: the last one did not. */
  since: number | undefined;
  /** Since when it has been met for longer than its grace period. */
  dueSince: number | undefined;
  /** When a reading last met it, and when the last such reading came after its grace period. */
  metAt = -Infinity;
  dueAt = -Infinity;
  /** When a reading last left less than the value and the minimum reclaim. */
  nearAt = -Infinity;

  constructor(
    readonly kind: "hard" | "soft",
    /** Bytes, inodes or process ids. */
    readonly value: number,
    readonly graceMs: number,
    /** To be free beyond the value, once pods were evicted. */
    readonly reclaim: number,
  ) {}

  read(available: number): void {
    const now = kernel.monotonic;
    if (available < this.value + this.reclaim) this.nearAt = now;
    const wanted = this.dueSince === undefined ? this.value : this.value + this.reclaim;
    if (available >= wanted) {
      this.forget();
      return;
    }
    this.since ??= now;
    this.metAt = now;
    if (now - this.since < this.graceMs - GRACE_SLACK_MS) return;
    this.dueSince ??= now;
    this.dueAt = now;
  }

  /** A kubelet that has just started has read nothing yet. */
  forget(): void {
    this.since = undefined;
    this.dueSince = undefined;
  }
}

export interface Source {
  capacity: number;
  available(): number;
}

export class Signals {
  /** Hears of the end of each shortage, just before it, with the steady moment of its begin. */
  readonly onShortageEnd = new Set<(signal: Signal, beganAt: number) => void>();
  private readonly sources = new Map<Signal, Source>();
  private readonly thresholds = new Map<Signal, readonly Threshold[]>();

  constructor(private readonly node: NodeShape) {}

  /** From now on the kubelet can read it. */
  add(signal: Signal, source: Source): void {
    this.sources.set(signal, source);
    this.thresholds.set(signal, thresholdsOf(this.node, signal, source.capacity));
  }

  get names(): Signal[] {
    return [...this.sources.keys()];
  }

  /** The kubelet reads it now. */
  read(signal: Signal): void {
    const available = this.available(signal);
    for (const threshold of this.of(signal)) threshold.read(available);
  }

  /** The world gives back soon what it took at that steady moment. */
  shortageEnds(signal: Signal, beganAt: number): void {
    for (const listener of this.onShortageEnd) listener(signal, beganAt);
  }

  available(signal: Signal): number {
    return this.sources.get(signal)?.available() ?? Infinity;
  }

  of(signal: Signal): readonly Threshold[] {
    return this.thresholds.get(signal) ?? [];
  }

  /** 0: there is no such threshold. */
  valueOf(signal: Signal, kind: Threshold["kind"]): number {
    return this.of(signal).find((threshold) => threshold.kind === kind)?.value ?? 0;
  }

  /** Steady moment at which the kubelet last read a value that puts the node under this pressure. */
  pressedAt(pressure: string): number {
    const signals = this.names.filter((signal) => PRESSURES[signal] === pressure);
    return Math.max(-Infinity, ...signals.flatMap((signal) => this.of(signal).map(({ metAt }) => metAt)));
  }

  kubeletStarts(): void {
    for (const threshold of [...this.thresholds.values()].flat()) threshold.forget();
  }
}

function thresholdsOf({ fields }: NodeShape, signal: Signal, capacity: number): Threshold[] {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim } = fields as Record<
    string,
    Texts
  >;
  const reclaim = unitsOf(evictionMinimumReclaim?.[signal], capacity) ?? 0;
  const hard = unitsOf((evictionHard ?? DEFAULTS)[signal], capacity);
  const soft = unitsOf(evictionSoft?.[signal], capacity);
  const graceMs = Number.parseFloat(evictionSoftGracePeriod?.[signal] ?? "0") * 1000;
  return [
    ...(hard === undefined ? [] : [new Threshold("hard", hard, 0, reclaim)]),
    ...(soft === undefined ? [] : [new Threshold("soft", soft, graceMs, reclaim)]),
  ];
}

/** Units of "10%", "200Mi" or "1000". */
function unitsOf(text: string | undefined, capacity: number): number | undefined {
  if (text === undefined) return undefined;
  const number = Number.parseFloat(text);
  if (text.endsWith("%")) return Math.trunc((capacity * number) / 100);
  return text.endsWith("Mi") ? number * MIB : number;
}
