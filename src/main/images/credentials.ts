// The ports of the image puller: the credentials of a pull, and the pods that may use a present image.
import type { Pod } from "../../shared/api/pod.js";
import type { AuthConfig } from "../../shared/cri/gen/runtime.v1.js";

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
}

// Decides which pods may use a present image: the port between the puller and the records of past pulls.

/** The credentials of the pod; computed only if a record shows that they may help. */
export type OwnSources = (kind: OwnKind) => Promise<CredentialSource[]>;

export interface ImageAccess {
  /** Whether event messages mention the check of the pod's access. */
  readonly verifies: boolean;
  /** True when the pod must prove by a pull that it may have the image, though it is there. */
  mustProve(image: string, imageRef: string, own: OwnSources): Promise<boolean>;
  /** Called before a pull. The intent is on disk when it resolves. */
  pulling(image: string): Promise<void>;
  /** After a pull that brought `imageRef`; undefined source: no credentials were needed. */
  pulled(image: string, imageRef: string, source: CredentialSource | undefined): Promise<void>;
  failed(image: string): Promise<void>;
}

/** Every pod may use every image that is there. */
export const openAccess: ImageAccess = {
  verifies: false,
  mustProve: () => Promise.resolve(false),
  pulling: () => Promise.resolve(),
  pulled: () => Promise.resolve(),
  failed: () => Promise.resolve(),
};
