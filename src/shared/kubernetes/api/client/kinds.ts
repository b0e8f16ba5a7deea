// The kinds of objects that a node agent reads and writes.

import type { Event } from "../event.js";
import type { Lease } from "../gen/coordination.js";
import type { Node } from "../node.js";
import type {
  CertificateSigningRequest,
  ClusterTrustBundle,
  ConfigMap,
  CSIDriver,
  CSINode,
  PersistentVolume,
  PersistentVolumeClaim,
  PodCertificateRequest,
  ResourceClaim,
  ResourceSlice,
  RuntimeClass,
  Secret,
  Service,
  ServiceAccount,
  VolumeAttachment,
} from "../objects.js";
import type { Pod } from "../pod.js";
import type { ApiObject, ResourceKind } from "./port.js";

function kind<T extends ApiObject>(
  group: string,
  version: string,
  resource: string,
  name: string,
  namespaced: boolean,
): ResourceKind<T> {
  return { group, version, resource, kind: name, namespaced };
}

export const PODS = kind<Pod>("", "v1", "pods", "Pod", true);
export const NODES = kind<Node>("", "v1", "nodes", "Node", false);
export const SERVICES = kind<Service>("", "v1", "services", "Service", true);
export const CONFIG_MAPS = kind<ConfigMap>("", "v1", "configmaps", "ConfigMap", true);
export const SECRETS = kind<Secret>("", "v1", "secrets", "Secret", true);
export const SERVICE_ACCOUNTS = kind<ServiceAccount>("", "v1", "serviceaccounts", "ServiceAccount", true);
export const EVENTS = kind<Event>("", "v1", "events", "Event", true);
export const PERSISTENT_VOLUMES = kind<PersistentVolume>("", "v1", "persistentvolumes", "PersistentVolume", false);
export const PERSISTENT_VOLUME_CLAIMS = kind<PersistentVolumeClaim>(
  "",
  "v1",
  "persistentvolumeclaims",
  "PersistentVolumeClaim",
  true,
);
export const LEASES = kind<Lease>("coordination.k8s.io", "v1", "leases", "Lease", true);
export const RUNTIME_CLASSES = kind<RuntimeClass>("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false);
export const CSI_NODES = kind<CSINode>("storage.k8s.io", "v1", "csinodes", "CSINode", false);
export const CSI_DRIVERS = kind<CSIDriver>("storage.k8s.io", "v1", "csidrivers", "CSIDriver", false);
export const VOLUME_ATTACHMENTS = kind<VolumeAttachment>(
  "storage.k8s.io",
  "v1",
  "volumeattachments",
  "VolumeAttachment",
  false,
);
export const CLUSTER_TRUST_BUNDLES = kind<ClusterTrustBundle>(
  "certificates.k8s.io",
  "v1beta1",
  "clustertrustbundles",
  "ClusterTrustBundle",
  false,
);
export const CERTIFICATE_SIGNING_REQUESTS = kind<CertificateSigningRequest>(
  "certificates.k8s.io",
  "v1",
  "certificatesigningrequests",
  "CertificateSigningRequest",
  false,
);
export const POD_CERTIFICATE_REQUESTS = kind<PodCertificateRequest>(
  "certificates.k8s.io",
  "v1",
  "podcertificaterequests",
  "PodCertificateRequest",
  true,
);
export const RESOURCE_CLAIMS = kind<ResourceClaim>("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", true);
export const RESOURCE_SLICES = kind<ResourceSlice>("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", false);
