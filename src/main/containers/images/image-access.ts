// Decides which pods may use a present image: the port between the puller and the records of past pulls.

import type { OwnKind, CredentialSource } from "./credentials.js";

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
