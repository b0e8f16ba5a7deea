// Volumes of a pod (core/v1), where the kubelet says more than the generated types. Sources that it does not mount are
// kept as they came, so that /pods shows them.

import type * as core from "./gen/core.js";

export type {
  CSIVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  EmptyDirVolumeSource,
  EphemeralVolumeSource,
  FCVolumeSource,
  HostPathType,
  ImageVolumeSource,
  KeyToPath,
  NFSVolumeSource,
} from "./gen/core.js";

/** `namespace` of the secret: only of a persistent volume. */
export interface FlexVolumeSource extends core.FlexVolumeSource {
  secretRef?: core.SecretReference;
}

/** `namespace` of the secret: only of a persistent volume. */
export interface ISCSIVolumeSource extends core.ISCSIVolumeSource {
  secretRef?: core.SecretReference;
}

/** The API server refuses one without signer or key type. */
export interface PodCertificateProjection extends core.PodCertificateProjection {
  signerName: string;
  keyType: string;
}

/** Only one field is set. */
export interface VolumeProjection extends core.VolumeProjection {
  podCertificate?: PodCertificateProjection;
}

interface ProjectedVolumeSource extends core.ProjectedVolumeSource {
  sources?: VolumeProjection[];
}

export interface Volume extends core.Volume {
  projected?: ProjectedVolumeSource;
  /** Each source by its field name. */
  [source: string]: unknown;
}
