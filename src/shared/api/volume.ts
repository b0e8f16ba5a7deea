// Volume sources (core/v1). Sources the kubelet does not mount yet are kept as they came, so that /pods shows them.
import type { LabelSelector } from "./label-selector.js";
import type { Quantity, ResourceRequirements } from "./meta.js";

export type HostPathType =
  | ""
  | "DirectoryOrCreate"
  | "Directory"
  | "FileOrCreate"
  | "File"
  | "Socket"
  | "CharDevice"
  | "BlockDevice";

export interface EmptyDirVolumeSource {
  /** "" (the node's disk), "Memory" (tmpfs), "HugePages" or "HugePages-<size>". */
  medium?: string;
  sizeLimit?: Quantity;
}

interface HostPathVolumeSource {
  path: string;
  type?: HostPathType;
}

/** The files of an image, mounted by the runtime. */
export interface ImageVolumeSource {
  /** As a container's image. */
  reference?: string;
  pullPolicy?: "Always" | "IfNotPresent" | "Never";
}

/** A key of a config map or secret as a file. */
export interface KeyToPath {
  key: string;
  path: string;
  mode?: number;
}

interface ConfigMapVolumeSource {
  name?: string;
  items?: KeyToPath[];
  /** Permission bits, 0644 when absent; so below. */
  defaultMode?: number;
  optional?: boolean;
}

interface SecretVolumeSource {
  secretName?: string;
  items?: KeyToPath[];
  defaultMode?: number;
  optional?: boolean;
}

export interface DownwardAPIVolumeFile {
  path: string;
  fieldRef?: { apiVersion?: string; fieldPath: string };
  resourceFieldRef?: { containerName?: string; resource: string; divisor?: Quantity };
  mode?: number;
}

export interface DownwardAPIVolumeSource {
  items?: DownwardAPIVolumeFile[];
  defaultMode?: number;
}

/** A key of the pod's own, and a certificate of it that the signer issues. */
export interface PodCertificateProjection {
  signerName: string;
  /** "ED25519", "RSA3072", …: see PodKeyType. */
  keyType: string;
  /** Of the certificate, seconds; the API server's own default, a day, when absent. */
  maxExpirationSeconds?: number;
  /** Paths in the volume, each optional: key and chain in one file, the key, the chain. */
  credentialBundlePath?: string;
  keyPath?: string;
  certificateChainPath?: string;
  /** For the signer. */
  userAnnotations?: Record<string, string>;
}

/** One of the sources of a projected volume; only one field is set. */
export interface VolumeProjection {
  secret?: { name?: string; items?: KeyToPath[]; optional?: boolean };
  configMap?: { name?: string; items?: KeyToPath[]; optional?: boolean };
  downwardAPI?: { items?: DownwardAPIVolumeFile[] };
  serviceAccountToken?: { audience?: string; expirationSeconds?: number; path: string };
  clusterTrustBundle?: {
    name?: string;
    signerName?: string;
    labelSelector?: LabelSelector;
    optional?: boolean;
    path: string;
  };
  podCertificate?: PodCertificateProjection;
}

interface ProjectedVolumeSource {
  sources?: VolumeProjection[];
  defaultMode?: number;
}

/** An ephemeral volume of a CSI driver, bound to its pod. */
export interface CSIVolumeSource {
  driver: string;
  readOnly?: boolean;
  fsType?: string;
  volumeAttributes?: Record<string, string>;
  nodePublishSecretRef?: { name?: string };
}

/** A claim that is made for the pod. */
export interface EphemeralVolumeSource {
  volumeClaimTemplate?: {
    metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
    spec?: { accessModes?: string[]; resources?: ResourceRequirements; volumeMode?: string };
  };
}

interface PersistentVolumeClaimVolumeSource {
  claimName: string;
  readOnly?: boolean;
}

export interface NFSVolumeSource {
  server: string;
  path: string;
  readOnly?: boolean;
}

export interface FlexVolumeSource {
  /** "vendor/driver". */
  driver: string;
  fsType?: string;
  readOnly?: boolean;
  options?: Record<string, string>;
  /** `namespace`: only of a persistent volume. */
  secretRef?: { name?: string; namespace?: string };
}

/** An iSCSI LUN. */
export interface ISCSIVolumeSource {
  /** Address, with or without a port. */
  targetPortal: string;
  /** More portals of the target. */
  portals?: string[];
  iqn: string;
  lun?: number;
  /** "default" when absent. */
  iscsiInterface?: string;
  initiatorName?: string;
  fsType?: string;
  readOnly?: boolean;
  chapAuthDiscovery?: boolean;
  chapAuthSession?: boolean;
  /** `namespace`: only of a persistent volume. */
  secretRef?: { name?: string; namespace?: string };
}

/** A Fibre Channel LUN: by targetWWNs and lun, or by wwids. */
export interface FCVolumeSource {
  targetWWNs?: string[];
  lun?: number;
  wwids?: string[];
  fsType?: string;
  readOnly?: boolean;
}

export interface Volume {
  name: string;
  emptyDir?: EmptyDirVolumeSource;
  hostPath?: HostPathVolumeSource;
  image?: ImageVolumeSource;
  configMap?: ConfigMapVolumeSource;
  secret?: SecretVolumeSource;
  downwardAPI?: DownwardAPIVolumeSource;
  projected?: ProjectedVolumeSource;
  csi?: CSIVolumeSource;
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  /** A claim is made from the template by the control plane: <pod>-<volume>. */
  ephemeral?: EphemeralVolumeSource;
  nfs?: NFSVolumeSource;
  flexVolume?: FlexVolumeSource;
  iscsi?: ISCSIVolumeSource;
  fc?: FCVolumeSource;
  /** Every other source, by its field name (cephfs, rbd, …). */
  [source: string]: unknown;
}
