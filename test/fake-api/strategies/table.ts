// Which strategy a resource has. Those without one are kept as they are written.

import type { Resource } from "../resources.js";
import { certificateRequestStrategy } from "./certificate-requests.js";
import { namespaceStrategy } from "./namespaces.js";
import {
  budgetStrategy,
  claimStrategy,
  configMapStrategy,
  csiDriverStrategy,
  csiNodeStrategy,
  eventStrategy,
  leaseStrategy,
  newEventStrategy,
  nodeStrategy,
  priorityClassStrategy,
  runtimeClassStrategy,
  secretStrategy,
  serviceStrategy,
  storageClassStrategy,
  volumeStrategy,
} from "./others.js";
import { podCertificateRequestStrategy } from "./pod-certificate-requests.js";
import { podStrategy } from "./pods.js";
import type { Strategy } from "./strategy.js";

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  pods: podStrategy,
  nodes: nodeStrategy,
  namespaces: namespaceStrategy,
  services: serviceStrategy,
  configmaps: configMapStrategy,
  secrets: secretStrategy,
  events: eventStrategy,
  "events.events.k8s.io": newEventStrategy,
  persistentvolumes: volumeStrategy,
  persistentvolumeclaims: claimStrategy,
  "leases.coordination.k8s.io": leaseStrategy,
  "certificatesigningrequests.certificates.k8s.io": certificateRequestStrategy,
  "podcertificaterequests.certificates.k8s.io": podCertificateRequestStrategy,
  "priorityclasses.scheduling.k8s.io": priorityClassStrategy,
  "csidrivers.storage.k8s.io": csiDriverStrategy,
  "csinodes.storage.k8s.io": csiNodeStrategy,
  "runtimeclasses.node.k8s.io": runtimeClassStrategy,
  "poddisruptionbudgets.policy": budgetStrategy,
  "storageclasses.storage.k8s.io": storageClassStrategy,
};

const NONE: Strategy = {};

export function strategyOf(resource: Resource): Strategy {
  return STRATEGIES[resource.key] ?? NONE;
}
