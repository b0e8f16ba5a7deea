// Resources of CRI ↔ docker's. Pure.

import type { LinuxContainerResources } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";

/** The members of docker's HostConfig, also of its update. A member that is not there stays as it is. */
export interface DockerResources {
  CpuPeriod?: number;
  CpuQuota?: number;
  CpuShares?: number;
  Memory?: number;
  MemorySwap?: number;
  CpusetCpus?: string;
  CpusetMems?: string;
}

/**
 * 0 and "" of CRI mean "not given". Docker counts swap into MemorySwap; without a limit of its own a container gets
 * none.
 */
export function dockerResources(resources: LinuxContainerResources | undefined): DockerResources {
  if (resources === undefined) return {};
  const { cpuPeriod, cpuQuota, cpuShares, memoryLimitInBytes, memorySwapLimitInBytes, cpusetCpus, cpusetMems } =
    resources;
  const swap = memorySwapLimitInBytes === 0n ? memoryLimitInBytes : memorySwapLimitInBytes;
  return {
    ...(cpuPeriod !== 0n && { CpuPeriod: Number(cpuPeriod) }),
    ...(cpuQuota !== 0n && { CpuQuota: Number(cpuQuota) }),
    ...(cpuShares !== 0n && { CpuShares: Number(cpuShares) }),
    ...(memoryLimitInBytes !== 0n && { Memory: Number(memoryLimitInBytes), MemorySwap: Number(swap) }),
    ...(cpusetCpus !== "" && { CpusetCpus: cpusetCpus }),
    ...(cpusetMems !== "" && { CpusetMems: cpusetMems }),
  };
}

type Applied = { [Key in keyof DockerResources]?: DockerResources[Key] | undefined } & {
  OomScoreAdj?: number | undefined;
};

/** What docker applies now. */
export function criResources(host: Applied): LinuxContainerResources {
  return {
    cpuPeriod: big(host.CpuPeriod),
    cpuQuota: big(host.CpuQuota),
    cpuShares: big(host.CpuShares),
    memoryLimitInBytes: big(host.Memory),
    memorySwapLimitInBytes: big(host.MemorySwap),
    oomScoreAdj: big(host.OomScoreAdj),
    cpusetCpus: host.CpusetCpus ?? "",
    cpusetMems: host.CpusetMems ?? "",
    hugepageLimits: [],
    unified: {},
  };
}

function big(value: number | undefined): bigint {
  return BigInt(Math.trunc(value ?? 0));
}
