// The cluster's data for pods of this node, as the sync path uses it. Absent on a stand-alone node.
// Invariant: every wait for the API server has a signal. An object is read only for a pod that refers to it
// (NodeRestriction), and released when the pod is removed.

import type { ApiClient } from "../../shared/kubernetes/api/client/port.js";
import type { LabelSelector } from "../../shared/kubernetes/api/gen/meta.js";
import type { Node } from "../../shared/kubernetes/api/node.js";
import type { ConfigMap, RuntimeClass, Secret, Service } from "../../shared/kubernetes/api/objects.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { PodClaims } from "./pod-claims.js";

/** Config maps or secrets that pods refer to, by the strategy of configMapAndSecretChangeDetectionStrategy. */
export interface ReferencedObjects<T> {
  /** Rejects with ApiError (isNotFound), ApiConnectionError, or the signal's reason. */
  get(namespace: string, name: string, signal: AbortSignal): Promise<T>;
}

/** Certificates of ClusterTrustBundles, as PEM: each once. "" when nothing matches and `optional`. */
export interface TrustAnchors {
  byName(name: string, optional: boolean, signal: AbortSignal): Promise<string>;
  /** Bundles of the signer that the selector matches; no selector matches nothing, an empty one everything. */
  bySigner(
    signer: string,
    selector: LabelSelector | undefined,
    optional: boolean,
    signal: AbortSignal,
  ): Promise<string>;
}

/** A service account token for a pod; kept, and renewed in time, by its audience, lifetime and bound object. */
export interface TokenRequest {
  pod: Pod;
  /** Absent: the API server's own audience. */
  audience?: string | undefined;
  /** Absent: the API server's own default, an hour. */
  expirationSeconds?: number | undefined;
  /** UID of the account: a new account with the same name gets no token. Absent: any. */
  serviceAccountUid?: string;
}
export interface IssuedToken {
  token: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** A podCertificate source of a pod's projected volume. */
export interface PodCertificateSource {
  pod: Pod;
  volume: string;
  /** Its place among the volume's sources. */
  index: number;
}
/** Both PEM: the key in PKCS 8, the certificates with the leaf first. */
export interface PodCredential {
  key: string;
  chain: string;
}
export interface PodCertificates {
  /** The certificate issued last. Rejects with PodCertificateError if there is none, or with the signal's reason. */
  get(source: PodCertificateSource, signal: AbortSignal): Promise<PodCredential>;
}

export interface ClusterObjects {
  client: ApiClient;
  configMaps: ReferencedObjects<ConfigMap>;
  secrets: ReferencedObjects<Secret>;
  tokens: { get(request: TokenRequest, signal: AbortSignal): Promise<IssuedToken> };
  /** All services of the cluster that the pod may see; waits for the first list. */
  services(signal: AbortSignal): Promise<readonly Service[]>;
  /** As `services`, without waiting: undefined before the first list. */
  knownServices(): readonly Service[] | undefined;
  trustAnchors: TrustAnchors;
  podCertificates: PodCertificates;
  /** ResourceClaims of pods. */
  claims: PodClaims;
  /** The class, or undefined when there is none of that name. */
  runtimeClass(name: string, signal: AbortSignal): Promise<RuntimeClass | undefined>;
  /** As `runtimeClass`, without waiting: undefined while no list has it. */
  knownRuntimeClass(name: string): RuntimeClass | undefined;
  /** The latest known object of this node; undefined before the first read. */
  node(): Node | undefined;
  /** Watches the objects that the pod refers to; idempotent, called again when the pod's definition changes. */
  podWanted(pod: Pod): void;
  podRemoved(uid: PodUid): void;
  /** Something that the pod's volumes are made of may have changed. @returns removes the listener */
  onChange(listener: (uid: PodUid) => void): () => void;
}

/** The cluster as parts see it that are there before it: undefined until the kubelet has joined. */
export type ClusterAccess = () => ClusterObjects | undefined;
