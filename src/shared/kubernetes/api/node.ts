// The Node object (core/v1), as the kubelet reads and writes its own, where that says more than the generated types.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/node-v1/

import type * as core from "./gen/core.js";
import type { ConditionStatus } from "./pod-status.js";

export type { NodeSystemInfo, Taint } from "./gen/core.js";

export interface NodeCondition extends core.NodeCondition {
  status: ConditionStatus;
}

export interface NodeAddress extends core.NodeAddress {
  type: "Hostname" | "InternalIP" | "ExternalIP" | "InternalDNS" | "ExternalDNS";
}

export interface ContainerImage extends core.ContainerImage {
  names: string[];
}

export interface NodeStatus extends core.NodeStatus {
  conditions?: NodeCondition[];
  addresses?: NodeAddress[];
  images?: ContainerImage[];
}

export interface Node extends Omit<core.Node, "spec"> {
  /** `configSource`: any value, which is checked where it is read. */
  spec?: Omit<core.NodeSpec, "configSource"> & { configSource?: unknown };
  status?: NodeStatus;
}
