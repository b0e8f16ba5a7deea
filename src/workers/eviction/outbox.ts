// The thread's messages to main: orders, pressures when they change, thresholds met now.

import type { Clock } from "../../shared/base/clock/clock.js";
import { pressureBits, type EvictionPod, type EvictionRecord } from "../../shared/contracts/eviction.js";
import type { Pressure } from "../../shared/contracts/node-status.js";
import type { EvictionThreshold } from "../../shared/kubernetes/api/eviction-threshold.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { EvictionMessage } from "./messages.js";
import type { PodStore } from "./pod-store.js";
import type { Resource } from "./signals.js";

/** Interval of upstream's repeated messages for the same resource. */
const SAY_AGAIN_MS = 10_000;
/** Grace period in seconds for a hard threshold, or for a limit of the pod. */
export const HARD_GRACE_SECONDS = 1;

type Cause = Extract<EvictionRecord, { kind: "evict" }>["signal"];

export interface OutboxDeps {
  publish: (record: EvictionRecord) => void;
  board: { setPressures(bits: number): void };
  podStore: PodStore;
  clock: Pick<Clock, "monotonic">;
  log: Pick<Logger, "debug" | "info">;
}

export class Outbox {
  private pressures: string | undefined;
  private short: { resource: Resource; at: number } | undefined;

  constructor(private readonly deps: OutboxDeps) {}

  order(pod: EvictionPod, signal: Cause, graceSeconds: number, message: EvictionMessage, sampleAgeMs: number): void {
    const { publish, podStore, clock, log } = this.deps;
    const { uid, generation, namespace, name } = pod;
    publish({ kind: "evict", uid, generation, signal, graceSeconds, ...message, sampleAgeMs });
    podStore.orders.placed(uid, generation, clock.monotonic());
    const why = message.message.trimEnd();
    // Main logs and records the eviction after it has accepted the order.
    log.debug({ uid, signal, graceSeconds }, `ordering the eviction of pod ${namespace}/${name}: ${why}`);
  }

  publishPressures(pressures: readonly Pressure[]): void {
    const text = pressures.join();
    if (text === this.pressures) return;
    const before = this.pressures ?? "";
    this.pressures = text;
    this.deps.board.setPressures(pressureBits(pressures));
    this.deps.publish({ kind: "pressures", pressures: [...pressures] });
    if (text !== before)
      this.deps.log.info({ pressures }, `the node's pressure conditions are now: ${text === "" ? "none" : text}`);
  }

  publishShort(resource: Resource): void {
    const now = this.deps.clock.monotonic();
    if (this.short?.resource === resource && now - this.short.at < SAY_AGAIN_MS) return;
    this.short = { resource, at: now };
    this.deps.publish({ kind: "threshold-met", resource });
  }
}

/** Grace period of a pod, seconds. `most`: evictionMaxPodGracePeriod; a negative value means the pod's own. */
export function graceOf({ hard }: EvictionThreshold, pod: EvictionPod, most: number): number {
  if (hard) return HARD_GRACE_SECONDS;
  return most < 0 ? pod.graceSeconds : Math.min(most, pod.graceSeconds);
}
