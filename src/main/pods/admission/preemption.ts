// The pods to preempt so that a critical pod fits. Pure. BestEffort pods are chosen before Burstable ones, those before
// Guaranteed ones; within a class the pod whose requests are closest to the missing amount. Invariant: no chosen pod is
// unnecessary because of the other chosen pods; no chosen pod has an equal or higher priority than the new one.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { podRequests, sumOf } from "../../../shared/kubernetes/api/pod-requests.js";
import type { QOSClass } from "../../../shared/kubernetes/api/pod-status.js";
import { isStaticPod, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../shared/kubernetes/api/qos.js";
import { milliValue, value } from "../../../shared/kubernetes/api/quantity.js";
import type { MissingResource } from "../../model/refusal.js";
import { isCriticalPod } from "../../resources/oom-score.js";

/** Even without all that may go, room would be missing. */
function noRoomError(missing: readonly MissingResource[]): OperatorError {
  const short = missing.map(({ resource, nanos }) => `(res: ${resource}, q: ${inUnits(resource, nanos)}), `).join("");
  return new OperatorError(
    `error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${short}]`,
  );
}

/** @throws OperatorError */
export function choosePreempted(preemptor: Pod, running: readonly Pod[], missing: readonly MissingResource[]): Pod[] {
  const candidates = running.filter((pod) => mayPreempt(preemptor, pod));
  const of = (wanted: QOSClass): Pod[] => candidates.filter((pod) => qosClass(pod) === wanted);
  const [bestEffort, burstable, guaranteed] = [of("BestEffort"), of("Burstable"), of("Guaranteed")];
  const unmet = without(missing, candidates);
  if (unmet.length > 0) throw noRoomError(unmet);
  const firstChosen = nearest(guaranteed, without(missing, [...bestEffort, ...burstable]));
  const thenChosen = nearest(burstable, without(missing, [...bestEffort, ...firstChosen]));
  const lastChosen = nearest(bestEffort, without(missing, [...thenChosen, ...firstChosen]));
  return necessary([...lastChosen, ...thenChosen, ...firstChosen], missing);
}

/** Static pods are never preempted; critical ones only by a higher priority; others also by every critical pod. */
function mayPreempt(preemptor: Pod, victim: Pod): boolean {
  if (isStaticPod(victim)) return false;
  if (isCriticalPod(preemptor) && !isCriticalPod(victim)) return true;
  return priorityOf(preemptor) > priorityOf(victim);
}

function priorityOf(pod: Pod): number {
  return pod.spec.priority ?? 0;
}

/** The resources that are still missing after these pods are killed. */
function without(missing: readonly MissingResource[], gone: readonly Pod[]): MissingResource[] {
  return missing
    .map(({ resource, nanos }) => ({
      resource,
      nanos: gone.reduce((left, pod) => left - freedBy(pod, resource), nanos),
    }))
    .filter(({ nanos }) => nanos > 0n);
}

function freedBy(pod: Pod, resource: string): bigint {
  return resource === "pods" ? 1_000_000_000n : sumOf(podRequests(pod), resource).nanos;
}

/** Chooses the pod closest to the missing amount until nothing is missing. The given pods can satisfy every need. */
function nearest(pods: readonly Pod[], missing: MissingResource[]): Pod[] {
  const chosen: Pod[] = [];
  let left = missing;
  let candidates = [...pods];
  while (left.length > 0 && candidates.length > 0) {
    const need = left;
    const best = candidates.reduce((a, b) => (isBetter(b, a, need) ? b : a));
    chosen.push(best);
    candidates = candidates.filter((pod) => pod !== best);
    left = without(left, [best]);
  }
  return chosen;
}

function isBetter(a: Pod, b: Pod, missing: readonly MissingResource[]): boolean {
  const difference = distance(a, missing) - distance(b, missing);
  return difference !== 0 ? difference < 0 : smaller(a, b);
}

/** Sum of the squared shares of each need that the pod would leave open: 0 frees it all. */
function distance(pod: Pod, missing: readonly MissingResource[]): number {
  return missing.reduce((sum, { resource, nanos }) => {
    const left = nanos - freedBy(pod, resource);
    return left <= 0n ? sum : sum + (Number(left) / Number(nanos)) ** 2;
  }, 0);
}

function smaller(a: Pod, b: Pod): boolean {
  for (const resource of ["memory", "cpu"]) {
    const [left, right] = [freedBy(a, resource), freedBy(b, resource)];
    if (left !== right) return left < right;
  }
  return false;
}

/** Spares chosen pods that the others make unnecessary, the last chosen first. */
function necessary(chosen: readonly Pod[], missing: readonly MissingResource[]): Pod[] {
  let kept = [...chosen];
  for (const pod of chosen.toReversed()) {
    const others = kept.filter((other) => other !== pod);
    if (without(missing, others).length === 0) kept = others;
  }
  return kept;
}

function inUnits(resource: string, nanos: bigint): bigint {
  const quantity = { nanos, format: "DecimalSI" } as const;
  return resource === "cpu" ? milliValue(quantity) : value(quantity);
}
