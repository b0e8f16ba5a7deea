// Resources of CRI ↔ docker's. Pure.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { LinuxContainerResources } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";

/** The members of docker's HostConfig, also of its update. A member that is not there stays as it is. */
export interface DockerResources {
  CpuPeriod?: number | undefined;
  CpuQuota?: number | undefined;
  CpuShares?: number | undefined;
  Memory?: number | undefined;
  MemorySwap?: number | undefined;
  CpusetCpus?: string | undefined;
  CpusetMems?: string | undefined;
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
  return omitUndefined({
    CpuPeriod: cpuPeriod !== 0n ? Number(cpuPeriod) : undefined,
    CpuQuota: cpuQuota !== 0n ? Number(cpuQuota) : undefined,
    CpuShares: cpuShares !== 0n ? Number(cpuShares) : undefined,
    Memory: memoryLimitInBytes !== 0n ? Number(memoryLimitInBytes) : undefined,
    MemorySwap: memoryLimitInBytes !== 0n ? Number(swap) : undefined,
    CpusetCpus: cpusetCpus !== "" ? cpusetCpus : undefined,
    CpusetMems: cpusetMems !== "" ? cpusetMems : undefined,
  });
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
