// What the node gives to the arithmetic of container resources: the same at creation and at every resize.
import type { ContainerResourceOptions } from "../resources/container-resources.js";
import type { NodeRuntime } from "./node-runtime.js";

export function containerResourceOptions({ node, settings }: NodeRuntime): ContainerResourceOptions {
  return {
    nodeMemoryBytes: node.memoryBytes,
    cgroupVersion: node.cgroupVersion,
    cpuCFSQuota: settings.cpuCFSQuota,
    swapController: node.swapController,
    hugePageSizes: node.hugePageSizes,
    singleProcessOOMKill: node.cgroupVersion === 1,
    ...node.containerLimits,
  };
}
