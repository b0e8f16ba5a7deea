// The ports of the image puller: the credentials of a pull, and the pods that may use a present image.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { AuthConfig } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";

/** The owner of the credentials: decides which pods may use an image that was pulled with them. */
export type CredentialSource =
  | { kind: "node" }
  | { kind: "secret"; uid: string; namespace: string; name: string; credentialHash: string }
  | { kind: "serviceAccount"; uid: string; namespace: string; name: string };

/** Credentials that belong to a pod. */
export type OwnKind = Exclude<CredentialSource["kind"], "node">;

export interface PullCredentials {
  auth: AuthConfig;
  source: CredentialSource;
}

export interface ImageCredentials {
  /** Those that fit the image, in the order in which they are tried; none: the pull is anonymous. */
  forImage(pod: Pod, image: string, signal: AbortSignal): Promise<PullCredentials[]>;
  /** The pod's own credentials of that kind that match the image. Runs no credential provider. */
  ofPod(pod: Pod, image: string, kind: OwnKind, signal: AbortSignal): Promise<PullCredentials[]>;
  /** Emits an event if secrets of the pod are missing, for an image that needs no pull. */
  warnOfMissing(pod: Pod, signal: AbortSignal): Promise<void>;
}
