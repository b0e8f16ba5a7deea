// Makes a new Node, and updates an existing one when the kubelet starts. Pure.
// Invariant: taints and providerID are set at creation only; an operator's later changes are not undone.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { NodeStatusInit } from "../../shared/contracts/node-status.js";
import { NODES } from "../../shared/kubernetes/api/client/kinds.js";
import { isExtendedResourceName } from "../../shared/kubernetes/api/extended-resources.js";
import type { Node, Taint } from "../../shared/kubernetes/api/node.js";

const CONTROLLER_ATTACH = "volumes.kubernetes.io/controller-managed-attach-detach";

const CLOUD_TAINT: Taint = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
};

/** Labels of an existing Node that follow the kubelet's settings; all others are the cluster's. */
const DEFAULT_LABELS = [
  "kubernetes.io/hostname",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
  "kubernetes.io/os",
  "kubernetes.io/arch",
];

/** Without its status, which compute.ts adds. */
export function newNode(init: NodeStatusInit): Node {
  const { nodeName, hostname, operatingSystem: os, architecture: arch, providerID } = init;
  const taints = [...init.registerWithTaints, ...(init.externalCloudProvider ? [CLOUD_TAINT] : [])];
  return {
    apiVersion: NODES.version,
    kind: NODES.kind,
    metadata: omitUndefined({
      name: nodeName,
      labels: {
        "kubernetes.io/hostname": hostname,
        "kubernetes.io/os": os,
        "kubernetes.io/arch": arch,
        "beta.kubernetes.io/os": os,
        "beta.kubernetes.io/arch": arch,
        ...init.nodeLabels,
      },
      annotations: init.enableControllerAttachDetach ? { [CONTROLLER_ATTACH]: "true" } : undefined,
    }),
    spec: omitUndefined({
      taints: taints.length > 0 ? taints : undefined,
      providerID: providerID !== "" ? providerID : undefined,
    }),
  };
}

/** `fresh`: no device plugin has left a checkpoint, so what an earlier machine of this name advertised is not there. */
export function reconciled(existing: Node, init: NodeStatusInit, fresh: boolean): Node {
  const { metadata, status = {} } = existing;
  const wanted = newNode(init).metadata;
  const labels = Object.entries({ ...metadata.labels, ...pick(wanted.labels ?? {}, DEFAULT_LABELS) }).filter(
    ([name, value]) => value !== "" || !DEFAULT_LABELS.includes(name),
  );
  const annotations = { ...without(metadata.annotations, CONTROLLER_ATTACH), ...wanted.annotations };
  const node = { ...existing, metadata: { ...metadata, labels: Object.fromEntries(labels), annotations } };
  if (!fresh) return node;
  const extended = Object.keys(status.capacity ?? {}).filter(isExtendedResourceName);
  const none = Object.fromEntries(extended.map((name) => [name, "0"]));
  return {
    ...node,
    status: {
      ...status,
      capacity: { ...status.capacity, ...none },
      allocatable: { ...status.allocatable, ...none },
    },
  };
}

/** A copy. */
export function without(map: Readonly<Record<string, string>> = {}, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => key !== name));
}

function pick(map: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([name]) => names.includes(name)));
}
