// Terminates the pods of a node that shuts down, group by group. The least important come first, and each group has its
// own time.
// Invariant: no pod extends its group's time; a group without pods takes none.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { abortReason, asError } from "../../../shared/base/errors/thrown.js";
import { CRITICAL_PRIORITY, isStaticPod, podDescription, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ShutdownGroup } from "../../command/shutdown-groups.js";

export interface EndingPods {
  /** Pods of which something runs, or may. */
  active(): readonly Pod[];
  /** Terminates the pod for good; resolves when no container of it runs and its volumes are unmounted. */
  end(pod: Pod, graceSeconds: number): Promise<void>;
}

export interface EndGroupsDeps {
  pods: EndingPods;
  clock: Clock;
  log: Logger;
  /** The shutdown was called off, or the kubelet stops: no further group is begun. */
  signal: AbortSignal;
}

/** `groups` by priority, lowest first. Rejects with the signal's reason only. */
export async function endByGroup(groups: readonly ShutdownGroup[], deps: EndGroupsDeps): Promise<void> {
  const active = deps.pods.active();
  for (const group of groups) {
    deps.signal.throwIfAborted();
    const members = active.filter((pod) => groupOf(pod, groups) === group);
    if (members.length > 0) await endGroup(group, members, deps);
  }
}

/** The group of the highest priority that is not above the pod's; of a pod below all, the lowest. @internal */
export function groupOf(pod: Pod, groups: readonly ShutdownGroup[]): ShutdownGroup | undefined {
  const priority = shutdownPriority(pod);
  return groups.findLast((group) => group.priority <= priority) ?? groups[0];
}

/** A static pod is critical, unless its manifest sets a priority. @internal */
export function shutdownPriority(pod: Pod): number {
  return pod.spec.priority ?? (isStaticPod(pod) ? CRITICAL_PRIORITY : 0);
}

/** A shorter grace of the pod's own stays. @internal */
export function graceOf(pod: Pod, group: ShutdownGroup): number {
  return Math.min(pod.spec.terminationGracePeriodSeconds ?? Infinity, group.seconds);
}

async function endGroup(group: ShutdownGroup, members: readonly Pod[], deps: EndGroupsDeps): Promise<void> {
  const { pods, clock, log, signal } = deps;
  const { priority, seconds } = group;
  const names = (some: Iterable<Pod>): string => [...some].map(podDescription).join(", ");
  log.info(
    { priority, seconds },
    `shutdown: killing ${members.length} pods of priority ${priority}: ${names(members)}`,
  );
  const left = new Set(members);
  const ends = members.map(async (pod) => {
    try {
      await pods.end(pod, graceOf(pod, group));
      left.delete(pod);
    } catch (error) {
      if (!signal.aborted)
        log.warn({ err: error }, `shutdown: ${podDescription(pod)} did not terminate: ${errorText(error)}`);
    }
  });
  if (await inTime(Promise.all(ends), seconds * 1000, clock, signal)) {
    if (left.size === 0) log.info({ priority }, `shutdown: all pods of priority ${priority} have terminated`);
    return;
  }
  log.warn(
    { priority, seconds },
    `shutdown: the grace period of priority ${priority} has expired; pods still running: ${names(left)}`,
  );
}

/** False if the time expires first. Rejects with the signal's reason. */
function inTime(work: Promise<unknown>, ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", onAbort);
    };
    const onAbort = (): void => {
      leave();
      reject(abortReason(signal));
    };
    const timer = clock.after(ms, () => {
      leave();
      resolve(false);
    });
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(
      () => {
        leave();
        resolve(true);
      },
      (error: unknown) => {
        leave();
        reject(asError(error));
      },
    );
  });
}
