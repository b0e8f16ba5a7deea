// Objects of the API that pods refer to, where a node agent says more about them than the generated types.

import type * as certificates from "./gen/certificates.js";
import type * as core from "./gen/core.js";
import type * as meta from "./gen/meta.js";
import type * as resource from "./gen/resource.js";
import type * as storage from "./gen/storage.js";

export type { ClusterTrustBundle } from "./gen/certificates.js";
export type {
  ConfigMap,
  CSIPersistentVolumeSource,
  NodeSelectorTerm,
  PersistentVolumeClaim,
  Secret,
  SecretReference as SecretRef,
  Service,
  ServiceAccount,
} from "./gen/core.js";
export type { RuntimeClass } from "./gen/node.js";
export type { ResourceSlice } from "./gen/resource.js";
export type { VolumeAttachment } from "./gen/storage.js";

export interface PersistentVolume extends core.PersistentVolume {
  spec: core.PersistentVolumeSpec & {
    /** Each source by its field name. */
    [source: string]: unknown;
  };
}

export interface CSIDriver extends storage.CSIDriver {
  spec: storage.CSIDriverSpec & {
    volumeLifecycleModes?: ("Persistent" | "Ephemeral")[];
    fsGroupPolicy?: "ReadWriteOnceWithFSType" | "File" | "None";
  };
}

export interface CSINode extends Omit<storage.CSINode, "spec"> {
  /** null: the API server's form for none. */
  spec: { drivers: storage.CSINodeDriver[] | null };
}

export interface CertificateSigningRequest extends certificates.CertificateSigningRequest {
  status?: Omit<certificates.CertificateSigningRequestStatus, "conditions"> & {
    conditions?: (certificates.CertificateSigningRequestCondition & { type: "Approved" | "Denied" | "Failed" })[];
  };
}

/** The kubelet asks with stubPKCS10Request only, and reads type and status of the conditions. */
export interface PodCertificateRequest extends Omit<certificates.PodCertificateRequest, "spec" | "status"> {
  spec: Omit<certificates.PodCertificateRequestSpec, "pkixPublicKey" | "proofOfPossession">;
  status?: Omit<certificates.PodCertificateRequestStatus, "conditions"> & {
    conditions?: (Pick<meta.Condition, "type" | "status"> & Partial<meta.Condition>)[];
  };
}

/** The kubelet reads the status only. */
export type ResourceClaim = Omit<resource.ResourceClaim, "spec"> & { spec?: resource.ResourceClaimSpec };
