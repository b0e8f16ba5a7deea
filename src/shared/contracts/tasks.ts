// The tasks pool's contract: the functions a pool thread runs, by name, each from one job to one result.
// Jobs and results are plain data. A function never throws for bad input: its result has the errors.

import type { ManifestViolation, ManifestWarning } from "../kubernetes/api/manifest/violation.js";
import type { Pod } from "../kubernetes/api/pod.js";
import type { PodUid } from "../kubernetes/identifiers.js";

/** `submitted`: sent to the manifest API, or kept by it on disk. */
export type ManifestOrigin = { kind: "file"; path: string } | { kind: "http"; url: string } | { kind: "submitted" };

export interface DecodeManifestJob {
  origin: ManifestOrigin;
  /** YAML or JSON; bytes are UTF-8, or UTF-16 with a byte order mark. */
  text: string | Uint8Array;
  /** This node's name: part of the static pod's name and identity. */
  nodeName: string;
  /** Gate PreventStaticPodAPIReferences; default true. */
  preventAPIReferences?: boolean;
}

/**
 * All pods of the manifest or none: with `error` set, `pods` is empty.
 * Pods are complete static pods (identity, defaults, annotations) but for kubernetes.io/config.seen.
 */
export interface DecodeManifestResult {
  pods: Pod[];
  /** UIDs that releases up to 0.1.0 gave these pods, by the present ones; absent: none differs. */
  formerUids?: Record<PodUid, PodUid>;
  warnings: ManifestWarning[];
  /** Everything wrong with the manifest, in the order of the text; never empty. */
  error?: ManifestViolation[];
  /** With an error: "namespace/name" of the pods as the text has them. */
  claims?: string[];
}

/** One or many documents that were sent to the manifest API. */
export interface DecodeSubmittedJob {
  /** YAML or JSON. */
  text: Uint8Array;
  nodeName: string;
  preventAPIReferences: boolean;
  /** Namespace of pods that name none. */
  namespace: string;
}

/** All pods of the text or none, as DecodeManifestResult. */
export interface DecodeSubmittedResult {
  pods: SubmittedPod[];
  warnings: ManifestWarning[];
  error?: ManifestViolation[];
}
export interface SubmittedPod {
  namespace: string;
  /** As written, without the node's name. */
  name: string;
  /** metadata and spec as written, known fields only: JSON. */
  metadata: string;
  spec: string;
  pod: Pod;
  /** The UID that releases up to 0.1.0 gave the pod; absent: the same. */
  formerUid?: PodUid;
}

/**
 * A part of the change of a volume to its fsGroup. The job is repeated from the position of its result, until there is
 * none.
 */
export interface ChangeOwnershipJob {
  /** The volume's directory; it is changed last, by the caller, so that it shows whether all below it is done. */
  root: string;
  group: number;
  /** The group may not write. */
  readOnly: boolean;
  /** Position at which the last job ended; absent at the start. Main does not read it. */
  place?: Uint8Array;
  /** The job ends after so many files or milliseconds, so that manifests don't wait for a big volume. */
  maxFiles: number;
  maxMs: number;
}
export interface ChangeOwnershipResult {
  /**
   * Position at which the job ended; absent: all is done. Some hundred bytes, at most 256 KiB for a tree of great
   * depth.
   */
  place?: Uint8Array;
  /** Number of files and directories. */
  files: number;
  /** The kernel refused; the rest was not tried. */
  error?: { path: string; message: string };
}

/** A directory, or a file, to be measured. */
export interface UsageTree {
  root: string;
  /** Does the root itself count, too? */
  itself: boolean;
  /** Position at which the last job ended; absent: not started. Main does not read it. */
  place?: Uint8Array;
}
/** A part of measuring: the job is repeated with the trees that are not done until all are. */
export interface DirectoryUsageJob {
  trees: UsageTree[];
  /** The job ends after so many files or milliseconds, at any place. */
  maxFiles: number;
  maxMs: number;
}
export interface DirectoryUsageResult {
  /** In the order of the job. */
  trees: UsagePart[];
  /** Processor time that the job took of the thread. */
  workMs: number;
}
/** Usage of one tree, counted by blocks as du(1) does. The size of a file with several names is divided among them. */
export interface UsagePart {
  bytes: number;
  inodes: number;
  done: boolean;
  /** The tree is a file system by itself: it takes nothing of the one around it. */
  apart?: boolean;
  /** Position at which the job ended in a tree that is started and not done. */
  place?: Uint8Array;
}

export interface CompressLogJob {
  /** A rotated log file; it is replaced by one with .gz after its name. */
  path: string;
}

/** `gone`: the file was removed before the job or during it; no part of it is left. */
export type CompressLogResult =
  | { outcome: "compressed"; /** Size of the new file. */ bytes: number }
  | { outcome: "gone" }
  | { outcome: "failed"; code: string; message: string };

/** The subject that a certificate is to have. */
export interface CertificateSubject {
  commonName: string;
  organizations?: string[];
  dnsNames?: string[];
  ips?: string[];
}

/** A new key (EC P-256), and the request for a certificate of it (PKCS 10). */
export interface MakeCertificateRequestJob {
  subject: CertificateSubject;
  /** PEM (PKCS 8) of a key made before; absent: a new one. */
  key?: string;
}
export interface MakeCertificateRequestResult {
  /** PEM (PKCS 8). */
  key: string;
  /** PEM. */
  request: string;
  /** SHA-256 of the public key, hexadecimal: the same key, the same request. */
  keyDigest: string;
}

export interface MakeSelfSignedJob {
  subject: CertificateSubject;
  /** Milliseconds since the epoch. */
  notBefore: number;
  notAfter: number;
}
export interface MakeSelfSignedResult {
  /** PEM, as the certificate. */
  key: string;
  certificate: string;
}

/** Certificates, each with a new key, by an authority of this node's own. */
export interface IssueCertificatesJob {
  /** The one of an earlier job, or a new one of this name and life. */
  authority: MakeSelfSignedResult | (MakeSelfSignedJob & { key?: undefined });
  wanted: WantedCertificate[];
}
export interface WantedCertificate {
  subject: CertificateSubject;
  usage: "client" | "server";
  /** Milliseconds since the epoch. */
  notBefore: number;
  notAfter: number;
}
export interface IssueCertificatesResult {
  authority: MakeSelfSignedResult;
  /** In the order of the job. */
  issued: MakeSelfSignedResult[];
}

export interface DescribeCertificateJob {
  /** PEM: certificates, the leaf first, and maybe its key. */
  pem: string;
}
/** Undefined if the text is not a certificate. */
export type DescribeCertificateResult = DescribedCertificate | undefined;
export interface DescribedCertificate {
  /** Milliseconds since the epoch. */
  notBefore: number;
  notAfter: number;
  commonName: string;
  organizations: string[];
  dnsNames: string[];
  ips: string[];
  /** The PEM holds the private key of this certificate, too. */
  hasKey: boolean;
}

/** A new key of a pod's own. */
export interface MakePodKeyJob {
  /** "ED25519", "ECDSAP256", "ECDSAP384", "ECDSAP521", "RSA3072" or "RSA4096". */
  keyType: string;
}
/** Undefined for a type of key that this kubelet does not know. */
export type MakePodKeyResult = PodKey | undefined;
export interface PodKey {
  /** PEM (PKCS 8). */
  key: string;
  /** DER in base64: a request (PKCS 10) without names, signed with the key. */
  request: string;
}

/** Every function of the pool: name → job and result. */
export interface TaskFunctions {
  decodeManifest: { job: DecodeManifestJob; result: DecodeManifestResult };
  decodeSubmitted: { job: DecodeSubmittedJob; result: DecodeSubmittedResult };
  compressLog: { job: CompressLogJob; result: CompressLogResult };
  makeCertificateRequest: { job: MakeCertificateRequestJob; result: MakeCertificateRequestResult };
  makeSelfSigned: { job: MakeSelfSignedJob; result: MakeSelfSignedResult };
  issueCertificates: { job: IssueCertificatesJob; result: IssueCertificatesResult };
  makePodKey: { job: MakePodKeyJob; result: MakePodKeyResult };
  describeCertificate: { job: DescribeCertificateJob; result: DescribeCertificateResult };
  changeOwnership: { job: ChangeOwnershipJob; result: ChangeOwnershipResult };
  directoryUsage: { job: DirectoryUsageJob; result: DirectoryUsageResult };
}
export type TaskName = keyof TaskFunctions;
