// Facts of this machine that do not change while the kubelet runs.

import { readCgroupMounts, type CgroupMounts } from "../../shared/node/cgroup/mounts.js";
import { readThermalThrottlePaths, readTotalSwap } from "../node/machine.js";
import { readPageSize } from "../resources/page-size.js";
import { hostHugePageSizes } from "../resources/page-sizes.js";

export interface Machine {
  mounts: CgroupMounts;
  /** Bytes, as are the next two. */
  hugePageSizes: bigint[];
  pageSize: bigint;
  swapBytes: bigint;
  thermalThrottlePaths: string[];
}

export async function readMachineFacts(): Promise<Machine> {
  const [mounts, hugePageSizes, pageSize, swapBytes, thermalThrottlePaths] = await Promise.all([
    readCgroupMounts(),
    hostHugePageSizes(),
    readPageSize(),
    readTotalSwap(),
    readThermalThrottlePaths(),
  ]);
  return { mounts, hugePageSizes, pageSize, swapBytes, thermalThrottlePaths };
}
