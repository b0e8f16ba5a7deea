// Graceful shutdowns of a node, as KubeletConfiguration has them: periods, or a list by priority.

import type { Random } from "../kernel/random.js";

/** Pods of this priority and above, up to that of the next group, get these seconds together. */
export interface ShutdownGroup {
  priority: number;
  seconds: number;
}

export interface ShutdownSettings {
  /** Lowest priority first. */
  shutdown: readonly ShutdownGroup[];
  /** Fields of KubeletConfiguration. */
  fields: Readonly<Record<string, unknown>>;
}

/** Seconds for all pods, and for critical ones. */
const PERIODS: readonly (readonly [total: number, critical: number])[] = [
  [20, 5],
  [30, 10],
  [45, 15],
  [20, 0],
  [10, 10],
];
/** Priorities with seconds. */
const LISTS: readonly (readonly (readonly [priority: number, seconds: number])[])[] = [
  [
    [0, 15],
    [1000, 10],
    [100_000, 5],
    [2_000_000_000, 8],
  ],
  [
    [10, 20],
    [2_000_000_000, 10],
  ],
  [
    [0, 5],
    [1000, 0],
    [50_000, 25],
  ],
];
/** Pods of this priority and above are critical. */
export const CRITICAL_PRIORITY = 2_000_000_000;

/** `total` and `critical`: seconds. */
export function shutdownPeriods(total: number, critical: number): ShutdownSettings {
  const shutdown = [
    { priority: 0, seconds: total - critical },
    { priority: CRITICAL_PRIORITY, seconds: critical },
  ];
  const fields = { shutdownGracePeriod: `${total}s`, shutdownGracePeriodCriticalPods: `${critical}s` };
  return { shutdown, fields };
}

export function someShutdown(random: Random): ShutdownSettings {
  return random.chance(0.5) ? shutdownPeriods(...random.pick(PERIODS)) : shutdownList(random.pick(LISTS));
}

function shutdownList(list: (typeof LISTS)[number]): ShutdownSettings {
  const shutdown = list.map(([priority, seconds]) => ({ priority, seconds }));
  const shutdownGracePeriodByPodPriority = shutdown.map(({ priority, seconds }) => ({
    priority,
    shutdownGracePeriodSeconds: seconds,
  }));
  return { shutdown, fields: { shutdownGracePeriodByPodPriority } };
}
