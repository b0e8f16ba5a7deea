// What the world itself knows of each pod: the measure of the invariants. Names are used once, so they are the keys.

import type { PodShape } from "../plan/pod-shapes.js";

export interface PodFacts {
  shape: PodShape;
  createdAt: number;
  /** Steady moments, ms; undefined: it did not happen. */
  deletedAt?: number;
  graceSeconds: number;
  editedAt?: number;
  /** Its sandbox was killed, or its container, by a fault. */
  disturbedAt?: number;
  /** Uid of its object in the API. */
  uid?: string;
}

export class AllFacts {
  readonly pods = new Map<string, PodFacts>();
  /** Steady moments at which a fault was under way last. */
  lastFaultAt = -Infinity;
  lastRebootAt = -Infinity;
  /** A kubelet has completed its start, and so read its records, since then. */
  hasStartedSinceReboot = true;

  get wanted(): PodFacts[] {
    return [...this.pods.values()].filter(({ deletedAt }) => deletedAt === undefined);
  }
}
