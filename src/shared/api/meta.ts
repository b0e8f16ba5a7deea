// Kubernetes API object metadata (meta/v1), as far as a node agent reads it.

/** RFC 3339 time, whole seconds, UTC: "2026-11-21T06:30:00Z". */
export type Time = string;
/** Resource quantity in its string form, e.g. "100m", "128Mi"; see quantity.ts. A bare number is allowed in manifests. */
export type Quantity = string | number;
export type IntOrString = number | string;

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name: string;
  namespace: string;
  uid: string;
  generateName?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: Time | null;
  deletionTimestamp?: Time;
  /** Seconds. */
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
}

/** Resource name ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", …) to quantity. */
export type ResourceList = Record<string, Quantity>;

export interface ResourceRequirements {
  limits?: ResourceList;
  requests?: ResourceList;
  /** Of the pod's resourceClaims; without `request` all requests of the claim. */
  claims?: { name: string; request?: string }[];
}
