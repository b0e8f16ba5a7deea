// The thread's messages to main: orders, pressures when they change, thresholds met now.
import type { EvictionThreshold } from "../../shared/api/eviction-threshold.js";
import type { Clock } from "../../shared/clock/clock.js";
import { pressureBits, type EvictionPod, type EvictionRecord } from "../../shared/contracts/eviction.js";
import type { Pressure } from "../../shared/contracts/node-status.js";
import type { Logger } from "../../shared/log/logger.js";
import type { EvictionMessage } from "./messages.js";
import type { PodStore } from "./pod-store.js";
import type { Resource } from "./signals.js";

/** As often as upstream says it again of the same resource. */
const SAY_AGAIN_MS = 10_000;
/** Seconds: a hard threshold, or a limit of the pod's own, leaves so much. */
export const HARD_GRACE_SECONDS = 1;

type Cause = Extract<EvictionRecord, { kind: "evict" }>["signal"];

export interface OutboxParts {
  publish: (record: EvictionRecord) => void;
  board: { setPressures(bits: number): void };
  podStore: PodStore;
  clock: Pick<Clock, "monotonic">;
  log: Pick<Logger, "debug" | "info">;
}

export class Outbox {
  private pressures: string | undefined;
  private short: { resource: Resource; at: number } | undefined;

  constructor(private readonly parts: OutboxParts) {}

  order(pod: EvictionPod, signal: Cause, graceSeconds: number, message: EvictionMessage, sampleAgeMs: number): void {
    const { publish, podStore, clock, log } = this.parts;
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
    this.parts.board.setPressures(pressureBits(pressures));
    this.parts.publish({ kind: "pressures", pressures: [...pressures] });
    if (text !== before)
      this.parts.log.info({ pressures }, `the node's pressures are now: ${text === "" ? "none" : text}`);
  }

  publishShort(resource: Resource): void {
    const now = this.parts.clock.monotonic();
    if (this.short?.resource === resource && now - this.short.at < SAY_AGAIN_MS) return;
    this.short = { resource, at: now };
    this.parts.publish({ kind: "threshold-met", resource });
  }
}

/** Seconds that a pod gets. `most`: evictionMaxPodGracePeriod; a negative one leaves it to the pod. */
export function graceOf({ hard }: EvictionThreshold, pod: EvictionPod, most: number): number {
  if (hard) return HARD_GRACE_SECONDS;
  return most < 0 ? pod.graceSeconds : Math.min(most, pod.graceSeconds);
}
