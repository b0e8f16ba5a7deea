// Reads the facts of this machine that the configurations of containers depend on.

import { readFileLabel } from "../../../shared/io/os/se-linux.js";
import { printQuantity } from "../../../shared/kubernetes/api/quantity.js";
import { hasSwapController, type CgroupMounts } from "../../../shared/node/cgroup/mounts.js";
import type { CgroupSettings } from "../../command/views/cgroups.js";
import { cpuPeriodUs, memoryOf } from "../../resources/cgroups/make-cgroups.js";
import type { NodeResources } from "../../resources/node-capacity.js";
import type { NodeFacts } from "./node-runtime.js";

export interface NodeFactsDeps {
  nodeName: string;
  memoryBytes: bigint;
  cpuCount: number;
  cgroups: CgroupSettings;
  mounts: CgroupMounts;
  /** Bytes, as are `pageSize` and `swapBytes`. */
  hugePageSizes: bigint[];
  pageSize: bigint;
  swapBytes: bigint;
  thermalThrottlePaths: readonly string[];
  allocatable: NodeResources;
  /** As they are now, the primary first. */
  nodeIPs: () => readonly string[];
}

export async function readNodeFacts(deps: NodeFactsDeps): Promise<NodeFacts> {
  const { cgroups, mounts, pageSize, allocatable, nodeIPs } = deps;
  const [swapController, fileLabel] = await Promise.all([hasSwapController(mounts), readFileLabel()]);
  const { memoryQos } = cgroups;
  return {
    nodeName: deps.nodeName,
    get nodeIPs() {
      return nodeIPs();
    },
    memoryBytes: deps.memoryBytes,
    cpuCount: deps.cpuCount,
    allocatable: Object.fromEntries([...allocatable].map(([name, amount]) => [name, printQuantity(amount)])),
    cgroupVersion: mounts.version,
    swapController,
    hugePageSizes: deps.hugePageSizes,
    thermalThrottlePaths: deps.thermalThrottlePaths,
    seLinux: fileLabel !== undefined,
    containerLimits: {
      singleProcessOOMKill: cgroups.singleProcessOOMKill ?? mounts.version === 1,
      cpuPeriodUs: cpuPeriodUs(cgroups),
      swap: { behavior: cgroups.swapBehavior, nodeBytes: deps.swapBytes },
      memoryQos:
        memoryQos !== undefined ? { ...memoryQos, allocatableBytes: memoryOf(allocatable), pageSize } : undefined,
    },
  };
}
