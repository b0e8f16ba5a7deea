// The counts of in-place resizes, and the requested changes of a new spec.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { compareQuantities } from "../../../shared/kubernetes/api/quantity.js";
import { changedResources, resourcesOf } from "../../model/pod-resources.js";

export type RetryTrigger =
  | "periodic_retry"
  | "pod_resized"
  | "pod_updated"
  | "pods_added"
  | "pods_removed"
  | "pod_terminated";

export interface ResizeCounters {
  requested(resource: string, requirement: "requests" | "limits", operation: string): void;
  infeasible(detail: string): void;
  deferredAccepted(trigger: RetryTrigger): void;
  pending(deferred: number, infeasible: number): void;
  inProgress(count: number): void;
  ended(durationMs: number, ok: boolean): void;
}

/** Counts each request and limit of a container that the new spec adds, removes, increases or decreases. */
export function countRequested(counters: Pick<ResizeCounters, "requested">, before: Pod, after: Pod): void {
  const [old, wanted] = [resourcesOf(before).containers, resourcesOf(after).containers];
  if (old === wanted) return;
  for (const name of Object.keys(wanted)) {
    for (const resource of changedResources(old[name], wanted[name])) {
      for (const requirement of ["requests", "limits"] as const) {
        const operation = operationOf(old[name]?.[requirement]?.[resource], wanted[name]?.[requirement]?.[resource]);
        if (operation !== undefined) counters.requested(resource, requirement, operation);
      }
    }
  }
}

function operationOf(before: string | number | undefined, after: string | number | undefined): string | undefined {
  if (before === undefined) return after === undefined ? undefined : "add";
  if (after === undefined) return "remove";
  const difference = compareQuantities(after, before);
  return difference === 0 ? undefined : difference > 0 ? "increase" : "decrease";
}
