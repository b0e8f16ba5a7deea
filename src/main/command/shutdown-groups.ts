// The grace periods of pods when the node shuts down. The configuration has them by priority, as a list or as two
// periods. Pure. https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/

import { CRITICAL_PRIORITY } from "../../shared/kubernetes/api/pod.js";
import type { ShutdownPriority } from "./value-types.js";

/** Pods of this priority and above, up to the next group's, get these seconds together. */
export interface ShutdownGroup {
  priority: number;
  seconds: number;
}

export interface ShutdownPeriods {
  /** Milliseconds. */
  shutdownGracePeriodMs: number;
  /** Milliseconds, part of the above. */
  shutdownGracePeriodCriticalPodsMs: number;
  shutdownGracePeriodByPodPriority: readonly ShutdownPriority[];
}

/** Lowest priority first. Empty: the node's shutdown is not held back. The rules have refused both at once. */
export function shutdownGroups(periods: ShutdownPeriods): ShutdownGroup[] {
  const groups = listed(periods) ?? twoGroups(periods);
  return totalSeconds(groups) > 0 ? groups : [];
}

/** The total time for which the shutdown may be delayed, seconds. */
export function totalSeconds(groups: readonly ShutdownGroup[]): number {
  return groups.reduce((sum, { seconds }) => sum + seconds, 0);
}

function listed({ shutdownGracePeriodByPodPriority: list }: ShutdownPeriods): ShutdownGroup[] | undefined {
  if (list.length === 0) return undefined;
  return list
    .map(({ priority, shutdownGracePeriodSeconds: seconds }) => ({ priority, seconds: Math.max(seconds, 0) }))
    .sort((a, b) => a.priority - b.priority);
}

function twoGroups(periods: ShutdownPeriods): ShutdownGroup[] {
  const { shutdownGracePeriodMs: total, shutdownGracePeriodCriticalPodsMs: critical } = periods;
  return [
    { priority: 0, seconds: Math.max(Math.floor((total - critical) / 1000), 0) },
    { priority: CRITICAL_PRIORITY, seconds: Math.floor(critical / 1000) },
  ];
}
