// The objects of the Kubernetes API that this kubelet reads or writes, and the packages that define them. Written by
// hand: everything else about the objects is generated from it.

/** A package of upstream's definitions. Its versions share the names of their messages. */
export interface Package {
  /** The prefix of its messages in the contract. */
  name: string;
  repository: "api" | "apimachinery";
  /** Folders in the repository, the preferred one first. A later one adds what the first lacks. */
  folders: readonly string[];
  /** Files with structs beside types.go. */
  more?: readonly string[];
}

export const PACKAGES: readonly Package[] = [
  { name: "core", repository: "api", folders: ["core/v1"] },
  { name: "coordination", repository: "api", folders: ["coordination/v1"] },
  { name: "node", repository: "api", folders: ["node/v1"] },
  { name: "storage", repository: "api", folders: ["storage/v1"] },
  { name: "certificates", repository: "api", folders: ["certificates/v1", "certificates/v1beta1"] },
  { name: "authentication", repository: "api", folders: ["authentication/v1"] },
  { name: "authorization", repository: "api", folders: ["authorization/v1"] },
  { name: "resource", repository: "api", folders: ["resource/v1"] },
  { name: "meta", repository: "apimachinery", folders: ["pkg/apis/meta/v1"], more: ["watch.go"] },
  { name: "quantity", repository: "apimachinery", folders: ["pkg/api/resource"] },
  { name: "intstr", repository: "apimachinery", folders: ["pkg/util/intstr"] },
  { name: "runtime", repository: "apimachinery", folders: ["pkg/runtime"] },
];

export interface RootGroup {
  /** "v1", or "group/version". */
  apiVersion: string;
  package: string;
  kinds: readonly string[];
}

/** Objects with apiVersion and kind, by their package. A name that two packages have belongs to the first one here. */
export const ROOTS: readonly RootGroup[] = [
  {
    apiVersion: "v1",
    package: "core",
    kinds: [
      "Pod",
      "Node",
      "ConfigMap",
      "Secret",
      "Service",
      "ServiceAccount",
      "Event",
      "PersistentVolume",
      "PersistentVolumeClaim",
    ],
  },
  { apiVersion: "v1", package: "meta", kinds: ["Status", "DeleteOptions"] },
  { apiVersion: "coordination.k8s.io/v1", package: "coordination", kinds: ["Lease"] },
  { apiVersion: "node.k8s.io/v1", package: "node", kinds: ["RuntimeClass"] },
  { apiVersion: "storage.k8s.io/v1", package: "storage", kinds: ["CSINode", "CSIDriver", "VolumeAttachment"] },
  {
    apiVersion: "certificates.k8s.io/v1",
    package: "certificates",
    kinds: ["CertificateSigningRequest", "ClusterTrustBundle", "PodCertificateRequest"],
  },
  {
    apiVersion: "certificates.k8s.io/v1beta1",
    package: "certificates",
    kinds: ["ClusterTrustBundle", "PodCertificateRequest"],
  },
  { apiVersion: "authentication.k8s.io/v1", package: "authentication", kinds: ["TokenReview", "TokenRequest"] },
  { apiVersion: "authorization.k8s.io/v1", package: "authorization", kinds: ["SubjectAccessReview"] },
  { apiVersion: "resource.k8s.io/v1", package: "resource", kinds: ["ResourceClaim", "ResourceSlice"] },
];

/** Messages without apiVersion and kind of their own. */
export const PARTS: readonly string[] = ["meta.WatchEvent", "meta.ListMeta"];

/**
 * Messages that Go writes by code of their own, so that their structs have no tags of fields, and JSON has no objects;
 * and their types (src/shared/kubernetes/api/scalars.ts has the named ones).
 */
export const SPECIAL: ReadonlyMap<string, string> = new Map([
  ["quantity.Quantity", "Quantity"],
  ["intstr.IntOrString", "IntOrString"],
  ["meta.Time", "Time"],
  ["meta.MicroTime", "MicroTime"],
  ["meta.FieldsV1", "unknown"],
  ["runtime.RawExtension", "unknown"],
  ["authentication.AttestationValue", "string[]"],
  ["authentication.ExtraValue", "string[]"],
  ["authorization.ExtraValue", "string[]"],
  ["certificates.ExtraValue", "string[]"],
]);

/**
 * String types whose known values the kubelet only passes on: newer servers send others. The generated types have them
 * as texts.
 */
export const OPEN_ENUMS: readonly string[] = [
  "certificates.KeyUsage",
  "core.ClaimResourceStatus",
  "core.NodePhase",
  "core.NodeSelectorOperator",
  "core.PersistentVolumeAccessMode",
  "core.Signal",
  "core.TaintEffect",
];
