// The Lease object (coordination.k8s.io/v1): a node's heartbeat.

import type { ApiObject } from "./client/port.js";

export interface Lease extends ApiObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    /** RFC 3339 with microseconds. */
    acquireTime?: string | null;
    renewTime?: string | null;
    leaseTransitions?: number;
  };
}
