// Adds the resource managers' allocations for a container to the request that the runtime receives.

import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import type { LinuxContainerResources } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ContainerGrant } from "../../resources/assignment/resource-manager.js";
import { linuxContainerResources, type ContainerResourceOptions } from "../../resources/container-resources.js";
import { UNLIMITED_QUOTA } from "../../resources/cpu.js";
import type { NodeRuntime } from "./node-runtime.js";

/** The container's resources as the runtime gets them, at creation and at every resize. @throws InvalidQuantityError */
export function grantedResources(
  runtime: NodeRuntime,
  pod: Pod,
  container: Container,
  { cpus, memoryNodes, noCpuQuota }: ContainerGrant,
): LinuxContainerResources {
  const resources = linuxContainerResources(pod, container, containerResourceOptions(runtime));
  return {
    ...resources,
    cpusetCpus: cpus ?? resources.cpusetCpus,
    cpusetMems: memoryNodes ?? resources.cpusetMems,
    // Without CFS quotas there is none to lift.
    cpuQuota: noCpuQuota === true && runtime.settings.cpuCFSQuota ? UNLIMITED_QUOTA : resources.cpuQuota,
  };
}

/** The pod's own variables come last and win. */
export function grantedEnv({ env = [] }: ContainerGrant, own: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...env.map(({ name, value }) => [name, value] as const), ...own]);
}

/**
 * The options of the node for the calculation of container resources: the same at creation and at every
 * resize.
 */
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
