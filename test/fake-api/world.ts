// State that every part of the fake server uses.

import type { Clock } from "../../src/shared/base/clock/clock.js";
import type { Attributes } from "./access/authorize.js";
import type { TokenIssuer } from "./access/service-account-tokens.js";
import type { Authority } from "./certificates/authority.js";
import type { Store } from "./storage/store.js";

export interface User {
  name: string;
  uid?: string;
  groups: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

export interface WorldSettings {
  /** It serves the versions of Kubernetes 1.37. */
  later: boolean;
  /** The NodeRestriction admission plugin. */
  nodeRestriction: boolean;
  /** Ready-made bearer tokens. */
  tokens: Map<string, User>;
  /** Permissions besides those of masters and nodes. */
  grants: ((user: User, attributes: Attributes) => boolean)[];
  /** Milliseconds between the bookmarks of a watch. */
  bookmarkMs: number;
  /** Requests for nodes' client certificates are approved and signed at once, as the controller manager does. */
  approveCertificates: boolean;
  /** Those for their serving certificates too, which in a real cluster another controller approves. */
  approveServingCertificates: boolean;
  /** Longest life of certificates that are signed, milliseconds. */
  certificateLifeMs: number;
  /** Milliseconds by which they begin before they were signed, five minutes as with the controller manager. */
  certificateBackdateMs: number;
}

export interface World {
  readonly clock: Clock;
  readonly store: Store;
  readonly settings: WorldSettings;
  readonly authority: Authority;
  readonly tokens: TokenIssuer;
}

/** The server itself and the tests' direct writes. */
export const SYSTEM: User = { name: "system:apiserver", groups: ["system:masters"] };
