// Makes the manager of pods' cgroups from the node's settings. Its driver depends on the runtime's reply, and pods may
// be observed before that.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { value as wholeUnits, ZERO } from "../../../shared/kubernetes/api/quantity.js";
import type { CgroupMounts } from "../../../shared/node/cgroup/mounts.js";
import type { CgroupDriver } from "../../../shared/node/cgroup/name.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { CgroupSettings } from "../../command/views/cgroups.js";
import type { ResourceManagers } from "../assignment/resource-manager.js";
import type { NodeResources } from "../node-capacity.js";
import { createCgroupManager } from "./cgroup-manager.js";
import { LateCgroups } from "./late-cgroups.js";
import { cgroupMetrics, reservedMemoryMetrics } from "./metrics.js";

export interface CgroupsDeps {
  settings: CgroupSettings;
  driver: Promise<CgroupDriver>;
  mounts: CgroupMounts;
  /** Bytes, as is `pageSize`. */
  hugePageSizes: readonly bigint[];
  pageSize: bigint;
  allocatable: NodeResources;
  managers: Pick<ResourceManagers, "noCpuQuota">;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export function makeCgroups(deps: CgroupsDeps): LateCgroups {
  const { settings, mounts, allocatable, managers, registry } = deps;
  const { cgroupRoot, cgroupsPerQOS, cpuCFSQuota, qosReservedMemory: percent } = settings;
  const made = deps.driver.then((driver) =>
    createCgroupManager({
      driver,
      cgroupRoot,
      cgroupsPerQOS,
      cpuCFSQuota,
      cpuPeriodUs: cpuPeriodUs(settings),
      podPidsLimit: BigInt(settings.podPidsLimit),
      mounts,
      hugePageSizes: deps.hugePageSizes,
      pageSize: deps.pageSize,
      reserveMemory: mounts.version === 2 && settings.memoryQos?.reserve === true,
      reserved: percent !== undefined ? { percent, allocatableBytes: memoryOf(allocatable) } : undefined,
      onOperation: cgroupMetrics(registry),
      onReserved: reservedMemoryMetrics(registry),
      noCpuQuota: (pod: Pod) => managers.noCpuQuota(pod),
      clock: deps.clock,
      log: deps.log,
    }),
  );
  return new LateCgroups(mounts.version, made);
}

/** CFS period of pods, microseconds. */
export function cpuPeriodUs({ cpuCFSQuotaPeriodMs }: Pick<CgroupSettings, "cpuCFSQuotaPeriodMs">): bigint {
  return BigInt(Math.round(cpuCFSQuotaPeriodMs * 1000));
}

/** Bytes of node allocatable. */
export function memoryOf(allocatable: NodeResources): bigint {
  return wholeUnits(allocatable.get("memory") ?? ZERO);
}
