// status.resources and status.allocatedResources of a pod as a whole (gate InPlacePodLevelResourcesVerticalScaling).
// Pure. Upstream reads the pod's cgroup back; here they are the values that the kubelet wrote to it last, which
// rounding has not changed.

import { podLimits, podRequests, sumOf } from "../../../shared/kubernetes/api/pod-requests.js";
import type { PodPhase, PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod, ResourceList } from "../../../shared/kubernetes/api/pod.js";
import { milliValue, printQuantity, type ExactQuantity } from "../../../shared/kubernetes/api/quantity.js";
import { withResources, type PodResources } from "../../model/pod-resources.js";
import { podCgroupLimits } from "../../resources/cgroups/cgroup-limits.js";
import { MIN_SHARES } from "../../resources/cpu.js";

/** Values at or below these are the kernel's minimum: they don't show the requested value. */
const MIN_REQUEST_MILLI = MIN_SHARES;
const MIN_LIMIT_MILLI = 10n;

const CGROUP = { cpuCFSQuota: true, podPidsLimit: 0n, hugePageSizes: [] };

/**
 * @param pod with its allocated resources
 * @param actuated CPU and memory that were set last in its cgroup; undefined: not known
 */
export function podLevelResources(
  pod: Pod,
  phase: PodPhase,
  actuated: PodResources | undefined,
): Pick<PodStatus, "resources" | "allocatedResources"> {
  const requests = listOf(podRequests(pod));
  const resources =
    phase === "Running"
      ? runningResources(pod, actuated === undefined ? pod : withResources(pod, actuated))
      : { requests, limits: listOf(podLimits(pod)) };
  return {
    resources: { ...named("limits", resources.limits), ...named("requests", resources.requests) },
    ...named("allocatedResources", requests),
  };
}

function runningResources(pod: Pod, given: Pod): { requests: ResourceList; limits: ResourceList } {
  const { cpuQuotaUs, memoryBytes } = podCgroupLimits(given, CGROUP);
  const requested = podRequests(given);
  const limited = podLimits(given);
  const requests = { ...pod.spec.resources?.requests };
  const limits = { ...pod.spec.resources?.limits };
  const cpu = sumOf(requested, "cpu");
  if (isAbove(cpu, requests["cpu"], MIN_REQUEST_MILLI)) requests["cpu"] = printQuantity(cpu);
  const memory = requested.get("memory");
  if (memory !== undefined) requests["memory"] = printQuantity(memory);
  const limit = sumOf(limited, "cpu");
  if (cpuQuotaUs !== undefined && isAbove(limit, limits["cpu"], MIN_LIMIT_MILLI)) limits["cpu"] = printQuantity(limit);
  if (memoryBytes !== undefined) limits["memory"] = printQuantity(sumOf(limited, "memory"));
  return { requests, limits };
}

/** True if the actual amount exceeds the given or the allocated amount. */
function isAbove(running: ExactQuantity, allocated: ResourceList[string] | undefined, milli: bigint): boolean {
  if (running.nanos === 0n) return false;
  return milliValue(running) > milli || (allocated !== undefined && milliValue(allocated) > milli);
}

function listOf(sums: ReadonlyMap<string, ExactQuantity>): ResourceList {
  return Object.fromEntries([...sums].map(([name, quantity]) => [name, printQuantity(quantity)]));
}

function named<Name extends string>(name: Name, list: ResourceList): Partial<Record<Name, ResourceList>> {
  return Object.keys(list).length === 0 ? {} : ({ [name]: list } as Record<Name, ResourceList>);
}
