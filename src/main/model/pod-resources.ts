// Allocated and actuated CPU and memory of a pod: both may differ from the spec, which has the desired ones. Pure.
// Other resources cannot be resized and are always those of the spec.

import type { SteadyTime } from "../../shared/base/clock/moments.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { perSpec } from "../../shared/kubernetes/api/per-spec.js";
import type { Container, Pod, ResourceList, ResourceRequirements } from "../../shared/kubernetes/api/pod.js";
import { compareQuantities, maxQuantity, printQuantity } from "../../shared/kubernetes/api/quantity.js";

const RESIZABLE = ["cpu", "memory"] as const;
export type Resizable = (typeof RESIZABLE)[number];

export interface PodResources {
  /** By name of regular and init containers. */
  readonly containers: Readonly<Record<string, ResourceRequirements>>;
  /** Pod-level resources. */
  readonly pod?: ResourceRequirements;
}

/** The state of a pod's resize, for the planner. */
export interface ResizeView {
  /** The resources last set in the runtime for its containers; undefined: not known. */
  actuated: PodResources | undefined;
  /** After a failure nothing is tried before this moment. */
  retryAt?: SteadyTime;
}

export function resourcesOf({ spec }: Pick<Pod, "spec">): PodResources {
  return ofSpec(spec);
}

const ofSpec = perSpec((spec): PodResources => {
  const all = [...spec.containers, ...(spec.initContainers ?? [])];
  return omitUndefined({
    containers: Object.fromEntries(all.map(({ name, resources }) => [name, resizablePart(resources)])),
    pod: spec.resources !== undefined ? resizablePart(spec.resources) : undefined,
  });
});

/** The pod with these CPU and memory values; the same object if it has them already. Other values stay. */
export function withResources(pod: Pod, resources: PodResources): Pod {
  if (sameResources(resourcesOf(pod), resources)) return pod;
  const { spec } = pod;
  const replaced = <T extends Container>(container: T): T => {
    const own = resources.containers[container.name];
    return own === undefined ? container : { ...container, resources: replacedPart(container.resources, own) };
  };
  return {
    ...pod,
    spec: omitUndefined({
      ...spec,
      containers: spec.containers.map(replaced),
      initContainers: spec.initContainers ? spec.initContainers.map(replaced) : undefined,
      resources: (spec.resources ?? resources.pod) ? replacedPart(spec.resources, resources.pod ?? {}) : undefined,
    }),
  };
}

export function sameResources(a: PodResources, b: PodResources): boolean {
  if (a === b) return true;
  const names = new Set([...Object.keys(a.containers), ...Object.keys(b.containers)]);
  if (changedResources(a.pod, b.pod).length > 0) return false;
  return [...names].every((name) => changedResources(a.containers[name], b.containers[name]).length === 0);
}

/** Which of CPU and memory differ, as request or as limit. */
export function changedResources(
  before: ResourceRequirements | undefined,
  after: ResourceRequirements | undefined,
): Resizable[] {
  return RESIZABLE.filter(
    (name) =>
      !sameQuantity(before?.requests?.[name], after?.requests?.[name]) ||
      !sameQuantity(before?.limits?.[name], after?.limits?.[name]),
  );
}

/** Resources that hold both: the larger request; the larger limit, or none where one of the two has none. */
export function largestResources(a: PodResources, b: PodResources): PodResources {
  const names = new Set([...Object.keys(a.containers), ...Object.keys(b.containers)]);
  const containers: Record<string, ResourceRequirements> = {};
  for (const name of names) {
    const [left, right] = [a.containers[name], b.containers[name]];
    containers[name] = left === undefined ? (right ?? {}) : right === undefined ? left : largest(left, right);
  }
  const pod = a.pod === undefined ? b.pod : b.pod === undefined ? a.pod : largest(a.pod, b.pod);
  return omitUndefined({ containers, pod });
}

function largest(a: ResourceRequirements, b: ResourceRequirements): ResourceRequirements {
  const requests: ResourceList = {};
  const limits: ResourceList = {};
  for (const name of RESIZABLE) {
    const [one, other] = [a.requests?.[name], b.requests?.[name]];
    if (one !== undefined || other !== undefined) requests[name] = larger(one ?? 0, other ?? 0);
    const [limit, otherLimit] = [a.limits?.[name], b.limits?.[name]];
    if (limit !== undefined && otherLimit !== undefined) limits[name] = larger(limit, otherLimit);
  }
  return { requests, limits };
}

function larger(a: string | number, b: string | number): string {
  return printQuantity(maxQuantity(a, b));
}

function sameQuantity(a: string | number | undefined, b: string | number | undefined): boolean {
  if (a === b || a === undefined || b === undefined) return a === b;
  return compareQuantities(a, b) === 0;
}

function resizablePart(resources: ResourceRequirements | undefined): ResourceRequirements {
  const pick = (list: ResourceList | undefined): ResourceList =>
    Object.fromEntries(Object.entries(list ?? {}).filter(([name]) => isResizable(name)));
  const [limits, requests] = [pick(resources?.limits), pick(resources?.requests)];
  return omitUndefined({
    limits: Object.keys(limits).length > 0 ? limits : undefined,
    requests: Object.keys(requests).length > 0 ? requests : undefined,
  });
}

function replacedPart(given: ResourceRequirements | undefined, own: ResourceRequirements): ResourceRequirements {
  const merge = (list: ResourceList | undefined, values: ResourceList | undefined): ResourceList => ({
    ...Object.fromEntries(Object.entries(list ?? {}).filter(([name]) => !isResizable(name))),
    ...values,
  });
  const rest = { ...given };
  delete rest.limits;
  delete rest.requests;
  const [limits, requests] = [merge(given?.limits, own.limits), merge(given?.requests, own.requests)];
  return omitUndefined({
    ...rest,
    limits: Object.keys(limits).length > 0 ? limits : undefined,
    requests: Object.keys(requests).length > 0 ? requests : undefined,
  });
}

function isResizable(name: string): boolean {
  return name === "cpu" || name === "memory";
}
