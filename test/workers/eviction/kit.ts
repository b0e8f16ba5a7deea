// Pods, thresholds and observations for tests of the eviction rules.

import type { EvictionPod } from "../../../src/shared/contracts/eviction.js";
import type { EvictionSignal, EvictionThreshold } from "../../../src/shared/kubernetes/api/eviction-threshold.js";
import { parseQuantity } from "../../../src/shared/kubernetes/api/quantity.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import type { Observation, Observations } from "../../../src/workers/eviction/observe.js";

export const GIB = 2 ** 30;
export const MIB = 2 ** 20;

export function pod(name: string, more: Partial<EvictionPod> = {}): EvictionPod {
  return {
    uid: podUid(`uid-${name}`),
    namespace: "default",
    name,
    generation: 1,
    qosClass: "Burstable",
    priority: 0,
    critical: false,
    graceSeconds: 30,
    requests: {},
    containers: [{ name: "c", requests: {}, limits: {} }],
    volumes: [],
    ...more,
  };
}

/** "100Mi" or "10%"; hard, unless it has a grace period (ms). */
export function threshold(
  signal: EvictionSignal,
  value: string,
  { graceMs = 0, minReclaim }: { graceMs?: number; minReclaim?: string } = {},
): EvictionThreshold {
  return {
    signal,
    value: amount(value),
    graceMs,
    hard: graceMs === 0,
    ...(minReclaim === undefined ? {} : { minReclaim: amount(minReclaim) }),
  };
}

function amount(text: string): EvictionThreshold["value"] {
  if (text.endsWith("%")) return { kind: "percent", percent: Number(text.slice(0, -1)) };
  const { nanos, format } = parseQuantity(text);
  return { kind: "quantity", units: nanos / 1_000_000_000n, format };
}

export function seen(
  entries: Partial<Record<EvictionSignal, number | Partial<Observation>>>,
  at = 0,
  capacity = 100 * GIB,
): Observations {
  return new Map(
    Object.entries(entries).map(([signal, value]) => [
      signal as EvictionSignal,
      { capacity, at, ...(typeof value === "number" ? { available: value } : { available: 0, ...value }) },
    ]),
  );
}
