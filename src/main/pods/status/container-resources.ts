// status.resources of a container: the values of the runtime, if it reports them; else the values set last. As
// upstream, a container without limits of its own shows none: its pod's limits are in the pod's status. A container
// that the runtime has shows the field even if it is empty. Pure.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { Container, ResourceList, ResourceRequirements } from "../../../shared/kubernetes/api/pod.js";
import { milliValue, printQuantity, value, type QuantityLike } from "../../../shared/kubernetes/api/quantity.js";
import { ContainerState, type LinuxContainerResources } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";
import { MIN_SHARES, milliCpuToQuota, milliCpuToShares, sharesToMilliCpu } from "../../resources/cpu.js";

/**
 * Quotas at or below this many milli-CPU are rounded up by the kernel's minimum: they don't show the requested value.
 */
const MIN_LIMIT_MILLI = 10n;

/**
 * @param container with its allocated resources
 * @param actuated CPU and memory that were set last; undefined: not known
 */
export function containerResources(
  container: Container,
  observed: ObservedContainer,
  actuated: ResourceRequirements | undefined,
): ResourceRequirements {
  const { resources = {} } = container;
  if (observed.state !== ContainerState.CONTAINER_RUNNING) return resources;
  const given = actuated ?? resources;
  const linux = observed.resources?.linux;
  const requests = pick(given.requests);
  const limits = resources.limits === undefined ? undefined : pick(given.limits);
  if (linux !== undefined) takeFromRuntime(linux, requests, limits);
  // Nearly always. A container may name tens of thousands of resources, and its status is computed at each pass.
  if (hasValues(resources.requests, requests) && hasValues(resources.limits, limits)) return resources;
  return withValues(resources, requests, limits);
}

/** Other resources are those of the container. */
function withValues(
  resources: ResourceRequirements,
  requests: ResourceList,
  limits: ResourceList | undefined,
): ResourceRequirements {
  return {
    ...resources,
    ...listed("limits", limits && { ...others(resources.limits), ...limits }),
    ...listed("requests", { ...others(resources.requests), ...requests }),
  };
}

/** If the runtime reports another value than the requested one, the status shows the runtime's value. */
function takeFromRuntime(linux: LinuxContainerResources, requests: ResourceList, limits?: ResourceList): void {
  const { cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes } = linux;
  const request = requests["cpu"];
  if (request !== undefined && cpuShares > MIN_SHARES && cpuShares !== milliCpuToShares(milliValue(request))) {
    requests["cpu"] = milli(sharesToMilliCpu(cpuShares));
  }
  if (limits === undefined) return;
  const limit = limits["cpu"];
  if (cpuQuota > 0n && cpuPeriod > 0n && !isSmall(limit)) {
    const quota = limit === undefined ? undefined : milliCpuToQuota(milliValue(limit), cpuPeriod);
    if (quota !== cpuQuota) limits["cpu"] = milli((cpuQuota * 1000n + cpuPeriod - 1n) / cpuPeriod);
  }
  const memory = limits["memory"];
  if (memoryLimitInBytes > 0n && (memory === undefined || value(memory) !== memoryLimitInBytes)) {
    limits["memory"] = printQuantity({ nanos: memoryLimitInBytes * 1_000_000_000n, format: "BinarySI" });
  }
}

function isSmall(limit: QuantityLike | undefined): boolean {
  return limit !== undefined && milliValue(limit) <= MIN_LIMIT_MILLI;
}

function milli(milliCpu: bigint): string {
  return printQuantity({ nanos: milliCpu * 1_000_000n, format: "DecimalSI" });
}

/** The list has these values of CPU and memory, in the same words, and no others. */
function hasValues(list: ResourceList | undefined, values: ResourceList | undefined): boolean {
  return list?.["cpu"] === values?.["cpu"] && list?.["memory"] === values?.["memory"];
}

function pick({ cpu, memory }: ResourceList = {}): ResourceList {
  return omitUndefined({ cpu, memory });
}

function others(list: ResourceList | undefined): ResourceList {
  return Object.fromEntries(Object.entries(list ?? {}).filter(([name]) => name !== "cpu" && name !== "memory"));
}

function listed(name: "limits" | "requests", list: ResourceList = {}): ResourceRequirements {
  return Object.keys(list).length > 0 ? { [name]: list } : {};
}
