// Sums of a pod's requests and limits, with its overhead and its pod-level resources.

import { aggregate } from "./aggregate-resources.js";
import { perSpec } from "./per-spec.js";
import type { Pod, PodSpec, ResourceList } from "./pod.js";
import { addQuantities, parseQuantity, value, ZERO, type ExactQuantity } from "./quantity.js";

/** Resource name to exact quantity. A missing name means that no container requests the resource. */
export type ResourceSums = ReadonlyMap<string, ExactQuantity>;

export interface SumOptions {
  /** Leaves spec.overhead out. */
  excludeOverhead?: boolean;
  /** Leaves pod-level resources (spec.resources) out. */
  skipPodLevel?: boolean;
}

/** Is the resource one that pod-level resources may name? */
function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}

/** Does the pod set cpu, memory or huge pages at pod level? */
export function hasPodLevelResources(pod: Pick<Pod, "spec">): boolean {
  const { requests = {}, limits = {} } = pod.spec.resources ?? {};
  return [...Object.keys(requests), ...Object.keys(limits)].some(isPodLevelResource);
}

/** Sums of the containers alone. */
const containerRequests = perSpec((spec) => aggregate(spec, ({ resources }) => resources?.requests));
const containerLimits = perSpec((spec) => aggregate(spec, ({ resources }) => resources?.limits));

/** Computed once: admission of one pod, and the cgroups of the QoS classes, read those of all pods of the node. */
const wholeRequests = perSpec((spec) => requestsOf(spec, {}));

export function podRequests({ spec }: Pick<Pod, "spec">, options?: SumOptions): ResourceSums {
  return options === undefined ? wholeRequests(spec) : requestsOf(spec, options);
}

function requestsOf(spec: PodSpec, { excludeOverhead, skipPodLevel }: SumOptions): ResourceSums {
  const sums = new Map(containerRequests(spec));
  if (skipPodLevel !== true) overlayPodLevel(sums, spec.resources?.requests);
  if (excludeOverhead !== true) addInto(sums, spec.overhead);
  return sums;
}

/** Overhead raises only limits that exist: adding it to none would invent one. */
export function podLimits(pod: Pod, options: SumOptions = {}): ResourceSums {
  const sums = new Map(containerLimits(pod.spec));
  if (options.skipPodLevel !== true) overlayPodLevel(sums, pod.spec.resources?.limits);
  if (options.excludeOverhead !== true) {
    for (const [name, quantity] of Object.entries(pod.spec.overhead ?? {})) {
      const limit = sums.get(name);
      if (limit !== undefined) sums.set(name, addQuantities(limit, quantity));
    }
  }
  return sums;
}

/** A quantity of the sums; zero when absent. */
export function sumOf(sums: ReadonlyMap<string, ExactQuantity>, name: string): ExactQuantity {
  return sums.get(name) ?? ZERO;
}

/** Does the list name the resource with more than zero? */
export function isPositive(list: ResourceList | undefined, name: string): boolean {
  const quantity = list?.[name];
  return quantity !== undefined && parseQuantity(quantity).nanos > 0n;
}

/** Bytes of the list's entry, 0n when absent. */
export function bytesOf(list: ResourceList | undefined, name: string): bigint {
  const quantity = list?.[name];
  return quantity === undefined ? 0n : value(quantity);
}

function addInto(sums: Map<string, ExactQuantity>, list: ResourceList | undefined): void {
  for (const [name, quantity] of Object.entries(list ?? {})) sums.set(name, addQuantities(sumOf(sums, name), quantity));
}

function overlayPodLevel(sums: Map<string, ExactQuantity>, list: ResourceList | undefined): void {
  for (const [name, quantity] of Object.entries(list ?? {})) {
    if (isPodLevelResource(name)) sums.set(name, parseQuantity(quantity));
  }
}
