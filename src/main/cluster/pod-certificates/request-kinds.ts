// The version of PodCertificateRequests that the API server has: v1 from 1.37 on; in 1.36 v1beta1, if it is turned on.

import { POD_CERTIFICATE_REQUESTS } from "../../../shared/kubernetes/api/client/kinds.js";

type RequestKind = typeof POD_CERTIFICATE_REQUESTS;

/** Newest first. */
const KINDS: readonly RequestKind[] = ["v1", "v1beta1"].map((version) => ({ ...POD_CERTIFICATE_REQUESTS, version }));

export class RequestKinds {
  private served: RequestKind | undefined;

  /** The one that the API server had last comes first; it may have been upgraded since. */
  toTry(): readonly RequestKind[] {
    return [...new Set([...(this.served === undefined ? [] : [this.served]), ...KINDS])];
  }

  /** The API server has this one. */
  found(kind: RequestKind): void {
    this.served = kind;
  }

  /** undefined: no request was created yet. */
  get latest(): RequestKind | undefined {
    return this.served;
  }
}
