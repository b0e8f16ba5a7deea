// The Node object (core/v1), as the kubelet reads and writes its own, and its heartbeat, the Lease (coordination.k8s.io/v1).
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/node-v1/
import type { ApiObject } from "./client/port.js";
import type { ResourceList, Time } from "./meta.js";
import type { ConditionStatus } from "./pod-status.js";

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: Time;
}

export interface NodeCondition {
  type: string;
  status: ConditionStatus;
  lastHeartbeatTime?: Time | null;
  lastTransitionTime?: Time | null;
  reason?: string;
  message?: string;
}

export interface NodeAddress {
  type: "Hostname" | "InternalIP" | "ExternalIP" | "InternalDNS" | "ExternalDNS";
  address: string;
}

export interface NodeSystemInfo {
  machineID: string;
  systemUUID: string;
  bootID: string;
  kernelVersion: string;
  osImage: string;
  containerRuntimeVersion: string;
  kubeletVersion: string;
  kubeProxyVersion: string;
  operatingSystem: string;
  architecture: string;
  swap?: { capacity?: number };
}

export interface ContainerImage {
  names: string[];
  sizeBytes?: number;
}

interface NodeRuntimeHandler {
  name: string;
  features?: { recursiveReadOnlyMounts?: boolean; userNamespaces?: boolean };
}

interface AttachedVolume {
  name: string;
  devicePath: string;
}

export interface NodeStatus {
  capacity?: ResourceList;
  allocatable?: ResourceList;
  phase?: string;
  conditions?: NodeCondition[];
  addresses?: NodeAddress[];
  daemonEndpoints?: { kubeletEndpoint?: { Port: number } };
  nodeInfo?: NodeSystemInfo;
  images?: ContainerImage[];
  volumesInUse?: string[];
  volumesAttached?: AttachedVolume[];
  config?: unknown;
  runtimeHandlers?: NodeRuntimeHandler[];
  features?: { supplementalGroupsPolicy?: boolean };
  declaredFeatures?: string[];
}

interface NodeSpec {
  podCIDR?: string;
  podCIDRs?: string[];
  providerID?: string;
  unschedulable?: boolean;
  taints?: Taint[];
  configSource?: unknown;
}

export interface Node extends ApiObject {
  spec?: NodeSpec;
  status?: NodeStatus;
}
