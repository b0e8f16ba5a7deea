// What the world sees of the API server that the node belongs to, a cluster's or its own.

import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";

/** One change of an object, as the server made it. */
export interface ObjectChange {
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: ApiObject;
  previous?: ApiObject | undefined;
}

export interface ClusterView {
  /** Objects at this moment. `resource`: "pods", "leases.coordination.k8s.io". */
  readonly store: {
    get(resource: string, namespace: string, name: string): ApiObject | undefined;
    list(resource: string, namespace?: string): ApiObject[];
  };
  /** Each change of a Pod object. */
  onPod(listener: (change: ObjectChange) => void): void;
  /** Each change of an object of this resource. */
  onChange(resource: string, listener: (change: ObjectChange) => void): void;
}
