// Linux resource values as they go to the runtime: of one container (CRI LinuxContainerResources), and of a whole pod.

import { bytesOf, isPositive } from "../../shared/kubernetes/api/pod-requests.js";
import type { Container, Pod } from "../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../shared/kubernetes/api/qos.js";
import { milliValue, type QuantityLike } from "../../shared/kubernetes/api/quantity.js";
import { LinuxContainerResources } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import { milliCpuToQuota, milliCpuToShares, QUOTA_PERIOD_US } from "./cpu.js";
import { memoryHigh, reservedMemory, swapLimit, type MemoryQos, type Swap } from "./memory-values.js";
import { oomScoreAdj } from "./oom-score.js";
import { hugePageLimits } from "./page-sizes.js";

export interface ContainerResourceOptions {
  /** Memory capacity of the node, bytes. */
  nodeMemoryBytes: bigint;
  cgroupVersion: 1 | 2;
  /** Config field cpuCFSQuota: are CPU limits enforced? */
  cpuCFSQuota: boolean;
  /** Does the kernel account swap per cgroup? See shared/node/cgroup/mounts. */
  swapController: boolean;
  /** Sizes of the host's huge pages in bytes; see huge-pages. */
  hugePageSizes: readonly bigint[];
  /** Config field singleProcessOOMKill: the kernel kills one process rather than the whole container. */
  singleProcessOOMKill: boolean;
  /** CFS period, microseconds; the kernel's own, 100 ms, when absent. */
  cpuPeriodUs?: bigint;
  /** NoSwap when absent. */
  swap?: Swap;
  /** Absent: the gate MemoryQoS is off. */
  memoryQos?: MemoryQos | undefined;
}

/** A container without a limit gets the limit of the pod. Unset limits are 0. @throws InvalidQuantityError */
export function linuxContainerResources(
  pod: Pod,
  container: Container,
  options: ContainerResourceOptions,
): LinuxContainerResources {
  const { requests, limits } = container.resources ?? {};
  const memoryLimit = bytesOf(limits, "memory") || bytesOf(pod.spec.resources?.limits, "memory");
  const cpuLimit = isPositive(limits, "cpu") ? limits?.["cpu"] : pod.spec.resources?.limits?.["cpu"];
  const base = cpuAndMemory(requests?.["cpu"], cpuLimit, memoryLimit, options.cpuCFSQuota, options.cpuPeriodUs);
  const unified = options.cgroupVersion === 2 ? unifiedValues(pod, container, memoryLimit, options) : {};
  return LinuxContainerResources.fromPartial({
    ...base,
    oomScoreAdj: BigInt(oomScoreAdj(pod, container, options.nodeMemoryBytes)),
    hugepageLimits: hugePageLimits(limits, pod.spec.resources?.limits, options.hugePageSizes),
    unified,
    // v1 counts memory and swap together: the same figure leaves no swap.
    memorySwapLimitInBytes: options.cgroupVersion === 1 && options.swapController ? memoryLimit : 0n,
  });
}

/** Values that only cgroup v2 has, by file. */
function unifiedValues(
  pod: Pod,
  { resources }: Container,
  memoryLimit: bigint,
  options: ContainerResourceOptions,
): Record<string, string> {
  const unified: Record<string, string> = {};
  const request = bytesOf(resources?.requests, "memory");
  const { swap = { behavior: "NoSwap", nodeBytes: 0n }, memoryQos } = options;
  if (!options.singleProcessOOMKill) unified["memory.oom.group"] = "1";
  if (options.swapController) {
    unified["memory.swap.max"] = swapLimit(pod, request, memoryLimit, swap, options.nodeMemoryBytes).toString();
  }
  if (memoryQos === undefined) return unified;
  const { min, low } = reservedMemory(qosClass(pod), memoryQos.reserve ? request : 0n);
  unified["memory.min"] = min.toString();
  unified["memory.low"] = low.toString();
  const high = memoryHigh(request, memoryLimit, memoryQos);
  if (high !== undefined) unified["memory.high"] = high.toString();
  return unified;
}

interface CpuAndMemory {
  cpuShares: bigint;
  cpuQuota: bigint;
  cpuPeriod: bigint;
  memoryLimitInBytes: bigint;
}

/** Shares come from the request, or from the limit where no request was made. */
export function cpuAndMemory(
  cpuRequest: QuantityLike | undefined,
  cpuLimit: QuantityLike | undefined,
  memoryLimitBytes: bigint,
  cpuCFSQuota: boolean,
  cpuPeriodUs = QUOTA_PERIOD_US,
): CpuAndMemory {
  return {
    cpuShares: milliCpuToShares(milliValue(cpuRequest ?? cpuLimit ?? 0)),
    cpuQuota: cpuCFSQuota ? milliCpuToQuota(milliValue(cpuLimit ?? 0), cpuPeriodUs) : 0n,
    cpuPeriod: cpuCFSQuota ? cpuPeriodUs : 0n,
    memoryLimitInBytes: memoryLimitBytes,
  };
}
