// The resources of containers as the pod resources service lists them. Pure over the state of the managers. Containers
// are listed in the order of upstream: sidecars first, then app containers; init containers that end are left out.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import { isSidecar } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type {
  AllocatableResourcesResponse,
  ContainerDevices,
  ContainerMemory,
  ContainerResources,
  DynamicResource,
  PodResources,
} from "../../../shared/kubernetes/plugins/gen/podresources.v1.js";
import type { PodResources as AlphaPodResources } from "../../../shared/kubernetes/plugins/gen/podresources.v1alpha1.js";
import type { ExclusiveResources, MemoryShare } from "../../resources/assignment/resource-manager.js";

/** One device and the NUMA nodes it is near to. */
export interface ListedDevice {
  resource: string;
  id: string;
  nodes: readonly number[];
}

/** The managers' part. Absent: the node allocates no such resource. */
export interface PodResourcesPorts {
  /** Pods of the node with their statuses. */
  pods: () => Iterable<Pod>;
  devices?: {
    of(podUid: PodUid, container: string): readonly ListedDevice[];
    /** Healthy ones, in use or not. */
    allocatable(): readonly ListedDevice[];
  };
  /** CPUs and memory. */
  exclusive?: ExclusiveResources;
  claims?: (pod: Pod, container: Container) => DynamicResource[];
}

export class PodResourcesLister {
  /** `activeOnly`: gate KubeletPodResourcesListUseActivePods. */
  constructor(
    private readonly ports: PodResourcesPorts,
    private readonly activeOnly: boolean,
  ) {}

  list(): PodResources[] {
    return [...this.ports.pods()].filter((pod) => !this.activeOnly || isActive(pod)).map((pod) => this.ofPod(pod));
  }

  listAlpha(): AlphaPodResources[] {
    return [...this.ports.pods()].map(({ metadata, spec }) => ({
      name: metadata.name,
      namespace: metadata.namespace,
      containers: spec.containers.map(({ name }) => ({
        name,
        devices: this.devicesOf(metadata.uid, name).map(({ resourceName, deviceIds }) => ({ resourceName, deviceIds })),
      })),
    }));
  }

  /** @throws OperatorError */
  get(namespace: string, name: string): PodResources {
    const pod = [...this.ports.pods()].find(
      ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
    );
    if (pod === undefined) throw new OperatorError(`pod ${name} in namespace ${namespace} not found`);
    return this.ofPod(pod);
  }

  allocatable(): AllocatableResourcesResponse {
    const { devices, exclusive } = this.ports;
    return {
      devices: (devices?.allocatable() ?? []).flatMap(listed),
      cpuIds: (exclusive?.allocatableCpus() ?? []).map(BigInt),
      memory: (exclusive?.allocatableMemory() ?? []).map(memoryOf),
    };
  }

  private ofPod(pod: Pod): PodResources {
    const { name, namespace } = pod.metadata;
    const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
    const containers = [...sidecars, ...pod.spec.containers].map((container) => this.ofContainer(pod, container));
    return { name, namespace, containers };
  }

  private ofContainer(pod: Pod, container: Container): ContainerResources {
    const { exclusive, claims } = this.ports;
    const { uid } = pod.metadata;
    const { name } = container;
    return {
      name,
      devices: this.devicesOf(uid, name),
      cpuIds: (exclusive?.exclusiveCpus(uid, name) ?? []).map(BigInt),
      memory: (exclusive?.memoryBlocks(uid, name) ?? []).map(memoryOf),
      dynamicResources: claims?.(pod, container) ?? [],
    };
  }

  private devicesOf(podUid: PodUid, container: string): ContainerDevices[] {
    return (this.ports.devices?.of(podUid, container) ?? []).flatMap(listed);
  }
}

/** Neither over nor refused. */
function isActive({ status }: Pod): boolean {
  return status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

/** As upstream: one entry per device and node. */
function listed({ resource, id, nodes }: ListedDevice): ContainerDevices[] {
  const entry = (topology: ContainerDevices["topology"]): ContainerDevices => ({
    resourceName: resource,
    deviceIds: [id],
    topology,
  });
  return nodes.length === 0 ? [entry(undefined)] : nodes.map((node) => entry(topologyOf([node])));
}

function memoryOf({ type, size, nodes }: MemoryShare): ContainerMemory {
  return { memoryType: type, size, topology: topologyOf(nodes) };
}

function topologyOf(nodes: readonly number[]): NonNullable<ContainerDevices["topology"]> {
  return { nodes: nodes.map((node) => ({ ID: BigInt(node) })) };
}
