// The resources of a whole pod in RunPodSandbox (LinuxPodSandboxConfig.resources and .overhead): sums it
// may size a virtual machine by. The two are apart: resources carries no overhead.

import { podRequests, podLimits, sumOf, bytesOf } from "../../shared/kubernetes/api/pod-requests.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { value } from "../../shared/kubernetes/api/quantity.js";
import { LinuxContainerResources } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import { cpuAndMemory } from "./container-resources.js";

interface SandboxResources {
  resources: LinuxContainerResources;
  overhead: LinuxContainerResources;
}

/** @throws InvalidQuantityError */
export function sandboxResources(pod: Pod, options: { cpuCFSQuota: boolean; cpuPeriodUs?: bigint }): SandboxResources {
  const requests = podRequests(pod, { excludeOverhead: true });
  const limits = podLimits(pod, { excludeOverhead: true });
  const memory = value(sumOf(limits, "memory"));
  const { cpuCFSQuota, cpuPeriodUs } = options;
  const resources = cpuAndMemory(requests.get("cpu"), limits.get("cpu"), memory, cpuCFSQuota, cpuPeriodUs);
  const { overhead } = pod.spec;
  return {
    resources: LinuxContainerResources.fromPartial(resources),
    overhead: LinuxContainerResources.fromPartial(
      overhead === undefined
        ? {}
        : cpuAndMemory(overhead["cpu"] ?? 0, overhead["cpu"], bytesOf(overhead, "memory"), cpuCFSQuota, cpuPeriodUs),
    ),
  };
}
