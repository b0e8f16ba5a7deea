// The resources of a node's own API server. Anything else is 404, as on a server without it.

import { row, type FindableResource, type Resource } from "./resource.js";

const POD_SUBRESOURCES = ["eviction", "ephemeralcontainers", "resize"];

const READ = ["get", "list"];
/** For a kind that the kubelet reads and that nothing here acts on: it is written by hand only. */
const WATCHED = { verbs: [...READ, "watch"] };

/** Kept in files. The last ones are for the kubelet alone, which reads them in every cluster. */
export const RESOURCES: readonly FindableResource[] = [
  row("", "v1", "Pod", "pods", true, {
    shortNames: ["po"],
    status: true,
    subresources: POD_SUBRESOURCES,
    generation: true,
  }),
  row("", "v1", "ConfigMap", "configmaps", true, { shortNames: ["cm"] }),
  row("", "v1", "Secret", "secrets", true),
  row("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", true, { shortNames: ["pvc"], status: true }),
  row("", "v1", "PersistentVolume", "persistentvolumes", false, { shortNames: ["pv"], status: true }),
  row("", "v1", "Event", "events", true, { shortNames: ["ev"], createOnUpdate: true }),
  row("", "v1", "Node", "nodes", false, { shortNames: ["no"], status: true }),
  row("", "v1", "Namespace", "namespaces", false, { shortNames: ["ns"], status: true }),
  row("", "v1", "ServiceAccount", "serviceaccounts", true, { shortNames: ["sa"] }),
  row("coordination.k8s.io", "v1", "Lease", "leases", true, { createOnUpdate: true, unconditional: false }),
  { ...row("", "v1", "Service", "services", true, WATCHED), hidden: true },
  { ...row("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", false, WATCHED), hidden: true },
  { ...row("storage.k8s.io", "v1", "CSINode", "csinodes", false), hidden: true },
  { ...row("storage.k8s.io", "v1", "CSIDriver", "csidrivers", false, WATCHED), hidden: true },
];

const CREATED = { verbs: ["create"] };

/** A POST is answered, nothing is kept. */
export const REVIEWS: readonly FindableResource[] = [
  row("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", false, CREATED),
  row("authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", false, CREATED),
  row("authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", false, CREATED),
  row("authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", false, CREATED),
];

/** Usage of the node and its pods, read when it is asked for. */
export const METRICS: readonly FindableResource[] = [
  row("metrics.k8s.io", "v1beta1", "NodeMetrics", "nodes", false, { verbs: READ }),
  row("metrics.k8s.io", "v1beta1", "PodMetrics", "pods", true, { verbs: READ }),
];

/** In the order of discovery. */
export const DISCOVERED: readonly FindableResource[] = [...RESOURCES, ...REVIEWS, ...METRICS].filter(
  ({ hidden }) => hidden !== true,
);

const BY_PATH = new Map(
  [...RESOURCES, ...REVIEWS, ...METRICS].map((one) => [`${one.group}/${one.version}/${one.resource}`, one]),
);

export function resourceAt(group: string, version: string, resource: string): Resource | undefined {
  return BY_PATH.get(`${group}/${version}/${resource}`);
}

/** The row with this key. */
export function resourceNamed(key: string): Resource {
  const found = RESOURCES.find((one) => one.key === key);
  if (found === undefined) throw new Error(`no resource ${key}`);
  return found;
}
