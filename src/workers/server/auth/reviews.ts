// The two reviews of the API server: TokenReview for the user of a token, SubjectAccessReview for the user's rights.

import type { ApiObject, ResourceKind } from "../../../shared/kubernetes/api/client/port.js";

export interface TokenReview extends ApiObject {
  spec: { token: string; audiences?: string[] };
  status?: {
    authenticated?: boolean;
    user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
    error?: string;
  };
}

export interface SubjectAccessReview extends ApiObject {
  spec: {
    user: string;
    uid?: string;
    groups?: readonly string[];
    extra?: Readonly<Record<string, readonly string[]>>;
    resourceAttributes: { verb: string; version: string; resource: string; subresource: string; name: string };
  };
  status?: { allowed?: boolean; denied?: boolean; reason?: string; evaluationError?: string };
}

export const TOKEN_REVIEWS: ResourceKind<TokenReview> = {
  group: "authentication.k8s.io",
  version: "v1",
  resource: "tokenreviews",
  kind: "TokenReview",
  namespaced: false,
};

export const SUBJECT_ACCESS_REVIEWS: ResourceKind<SubjectAccessReview> = {
  group: "authorization.k8s.io",
  version: "v1",
  resource: "subjectaccessreviews",
  kind: "SubjectAccessReview",
  namespaced: false,
};

/** Longest wait for one review. */
export const REVIEW_TIMEOUT_MS = 10_000;
