// The number of devices that containers request. Extended resources are never overcommitted, so the limits are enough.

import { oncePer } from "../../../shared/base/objects/once-per.js";
import { aggregate } from "../../../shared/kubernetes/api/aggregate-resources.js";
import { isExtendedResourceName } from "../../../shared/kubernetes/api/extended-resources.js";
import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { type Container, type Pod, type ResourceList } from "../../../shared/kubernetes/api/pod.js";
import { value } from "../../../shared/kubernetes/api/quantity.js";

/** Requested count by resource name: only resources that a device plugin could offer, only counts above 0. */
export function containerRequests({ resources }: Pick<Container, "resources">): ReadonlyMap<string, number> {
  return resources?.limits === undefined ? NONE : ofLimits(resources.limits);
}

const NONE: ReadonlyMap<string, number> = new Map();

/** Admission of one pod asks several times, and a container may name tens of thousands of resources. */
const ofLimits = oncePer((limits: ResourceList) =>
  counts(Object.entries(limits).map(([name, limit]) => [name, value(limit)])),
);

/** Requested count by resource name for the whole pod: init containers run one after the other, the others together. */
export function podDeviceRequests({ spec }: Pick<Pod, "spec">): Map<string, number> {
  const sums = aggregate(spec, (container) => container.resources?.limits);
  return counts([...sums].map(([name, sum]) => [name, value(sum)]));
}

export function wantsDevices({ spec }: Pick<Pod, "spec">): boolean {
  return containersOf(spec).some((container) => containerRequests(container).size > 0);
}

function counts(amounts: readonly (readonly [string, bigint])[]): Map<string, number> {
  const wanted = amounts.filter(([name, amount]) => amount > 0n && isExtendedResourceName(name));
  return new Map(wanted.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, amount]) => [name, Number(amount)]));
}
