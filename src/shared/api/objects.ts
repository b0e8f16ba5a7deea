// Objects of the API that pods refer to, as far as a node agent reads them.
import type { ApiObject } from "./client/port.js";
import type { IntOrString, Quantity, ResourceList, Time } from "./meta.js";
import type { Toleration } from "./pod.js";
import type { FCVolumeSource, FlexVolumeSource, ISCSIVolumeSource } from "./volume.js";

export interface ServiceAccount extends ApiObject {
  secrets?: { name?: string }[];
  imagePullSecrets?: { name?: string }[];
}

export interface ConfigMap extends ApiObject {
  data?: Record<string, string>;
  /** Base64. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

export interface Secret extends ApiObject {
  /** Base64. */
  data?: Record<string, string>;
  type?: string;
  immutable?: boolean;
}

interface ServicePort {
  name?: string;
  protocol?: string;
  port: number;
  targetPort?: IntOrString;
}

export interface Service extends ApiObject {
  spec?: { clusterIP?: string; clusterIPs?: string[]; ports?: ServicePort[]; type?: string };
}

export interface RuntimeClass extends ApiObject {
  handler: string;
  overhead?: { podFixed?: ResourceList };
  scheduling?: { nodeSelector?: Record<string, string>; tolerations?: Toleration[] };
}

export interface ClusterTrustBundle extends ApiObject {
  spec: { signerName?: string; trustBundle: string };
}

export interface NodeSelectorTerm {
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
  matchFields?: { key: string; operator: string; values?: string[] }[];
}

export interface SecretRef {
  name?: string;
  namespace?: string;
}

export interface CSIPersistentVolumeSource {
  driver: string;
  volumeHandle: string;
  readOnly?: boolean;
  fsType?: string;
  volumeAttributes?: Record<string, string>;
  nodeStageSecretRef?: SecretRef;
  nodePublishSecretRef?: SecretRef;
  nodeExpandSecretRef?: SecretRef;
}

export interface PersistentVolume extends ApiObject {
  spec: {
    capacity?: ResourceList;
    accessModes?: string[];
    mountOptions?: string[];
    volumeMode?: "Filesystem" | "Block";
    claimRef?: { namespace?: string; name?: string; uid?: string };
    nodeAffinity?: { required?: { nodeSelectorTerms: NodeSelectorTerm[] } };
    hostPath?: { path: string; type?: string };
    local?: { path: string; fsType?: string };
    nfs?: { server: string; path: string; readOnly?: boolean };
    flexVolume?: FlexVolumeSource;
    iscsi?: ISCSIVolumeSource;
    fc?: FCVolumeSource;
    csi?: CSIPersistentVolumeSource;
    [source: string]: unknown;
  };
  status?: { phase?: string };
}

export interface PersistentVolumeClaim extends ApiObject {
  spec?: {
    volumeName?: string;
    volumeMode?: "Filesystem" | "Block";
    accessModes?: string[];
    storageClassName?: string;
    resources?: { requests?: ResourceList; limits?: ResourceList };
  };
  status?: {
    phase?: "Pending" | "Bound" | "Lost";
    capacity?: Record<string, Quantity>;
    conditions?: { type: string; status: string; lastTransitionTime?: string; reason?: string; message?: string }[];
    allocatedResources?: ResourceList;
    allocatedResourceStatuses?: Record<string, string>;
  };
}

export interface CSIDriver extends ApiObject {
  spec: {
    attachRequired?: boolean;
    podInfoOnMount?: boolean;
    volumeLifecycleModes?: ("Persistent" | "Ephemeral")[];
    fsGroupPolicy?: "ReadWriteOnceWithFSType" | "File" | "None";
    tokenRequests?: { audience: string; expirationSeconds?: number }[];
    requiresRepublish?: boolean;
    seLinuxMount?: boolean;
    nodeAllocatableUpdatePeriodSeconds?: number;
    serviceAccountTokenInSecrets?: boolean;
  };
}

export interface CSINode extends ApiObject {
  spec: {
    /** null: the API server's form for none. */
    drivers: { name: string; nodeID: string; topologyKeys?: string[]; allocatable?: { count?: number } }[] | null;
  };
}

export interface VolumeAttachment extends ApiObject {
  spec: {
    attacher: string;
    nodeName: string;
    /** inlineVolumeSpec: of a volume that a pod names itself, where a CSI driver took a cloud's own over. */
    source: { persistentVolumeName?: string; inlineVolumeSpec?: PersistentVolume["spec"] };
  };
  status?: {
    attached: boolean;
    attachmentMetadata?: Record<string, string>;
    /** errorCode: a gRPC status, of attachers that set it. */
    attachError?: { message?: string; time?: string; errorCode?: number };
    detachError?: { message?: string; time?: string };
  };
}

interface CertificateSigningRequestCondition {
  type: "Approved" | "Denied" | "Failed";
  status: string;
  reason?: string;
  message?: string;
}

export interface CertificateSigningRequest extends ApiObject {
  spec: {
    /** PEM, in base64. */
    request: string;
    signerName: string;
    usages: string[];
    expirationSeconds?: number;
    username?: string;
    groups?: string[];
  };
  status?: {
    conditions?: CertificateSigningRequestCondition[];
    /** PEM, in base64. */
    certificate?: string;
  };
}

/** certificates.k8s.io/v1beta1, as the API server of 1.36 has it, and v1 of 1.37. */
export interface PodCertificateRequest extends ApiObject {
  spec: {
    signerName: string;
    podName: string;
    podUID: string;
    serviceAccountName: string;
    serviceAccountUID: string;
    nodeName: string;
    nodeUID: string;
    maxExpirationSeconds?: number;
    /** PKCS 10, DER in base64: its key is the pod's, the rest of it is empty. */
    stubPKCS10Request: string;
    unverifiedUserAnnotations?: Record<string, string>;
  };
  status?: {
    /** At most one of "Issued", "Denied", "Failed", with status "True": the signer's last word. */
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    /** PEM, the leaf first. */
    certificateChain?: string;
    notBefore?: Time;
    beginRefreshAt?: Time;
    notAfter?: Time;
  };
}

/** resource.k8s.io/v1, as far as a kubelet reads it. */
export interface ResourceClaim extends ApiObject {
  status?: {
    allocation?: {
      devices?: { results?: { request: string; driver: string; pool: string; device: string }[] };
    };
    /** Pods that may use the claim. */
    reservedFor?: { apiGroup?: string; resource: string; name: string; uid: string }[];
  };
}

/** resource.k8s.io/v1: devices that a driver offers. The kubelet only deletes those of unregistered drivers. */
export type ResourceSlice = ApiObject;
