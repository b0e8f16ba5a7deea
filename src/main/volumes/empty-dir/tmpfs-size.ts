// Maximum size of a memory-backed emptyDir: the least of sizeLimit, the pod's memory limit and the node's memory.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { value } from "../../../shared/kubernetes/api/quantity.js";
import type { EmptyDirVolumeSource } from "../../../shared/kubernetes/api/volume.js";
import { podCgroupLimits } from "../../resources/cgroups/cgroup-limits.js";

/** Bytes, above 0. @throws InvalidQuantityError */
export function tmpfsSize(pod: Pod, source: EmptyDirVolumeSource, nodeMemoryBytes: bigint): bigint {
  const { memoryBytes = 0n } = podCgroupLimits(pod, { cpuCFSQuota: false, podPidsLimit: 0n, hugePageSizes: [] });
  const candidates = [value(source.sizeLimit ?? 0), memoryBytes].filter((bytes) => bytes > 0n);
  return candidates.reduce((least, bytes) => (bytes < least ? bytes : least), nodeMemoryBytes);
}
