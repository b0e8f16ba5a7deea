// The resources that are served, and what differs between them. Anything else is 404, as on a server without it.

import { row, type Resource } from "../../src/workers/apiserver/objects/resource.js";

export { apiVersionOf, type Resource } from "../../src/workers/apiserver/objects/resource.js";

const POD_SUBRESOURCES = ["binding", "eviction", "ephemeralcontainers", "resize"];

export const RESOURCES: readonly Resource[] = [
  row("", "v1", "Pod", "pods", true, {
    shortNames: ["po"],
    status: true,
    subresources: POD_SUBRESOURCES,
    generation: true,
  }),
  row("", "v1", "Node", "nodes", false, { shortNames: ["no"], status: true }),
  row("", "v1", "Namespace", "namespaces", false, { shortNames: ["ns"], status: true, subresources: ["finalize"] }),
  row("", "v1", "Service", "services", true, { shortNames: ["svc"], status: true }),
  row("", "v1", "Endpoints", "endpoints", true, { shortNames: ["ep"], createOnUpdate: true }),
  row("", "v1", "ConfigMap", "configmaps", true, { shortNames: ["cm"] }),
  row("", "v1", "Secret", "secrets", true),
  row("", "v1", "ServiceAccount", "serviceaccounts", true, { shortNames: ["sa"], subresources: ["token"] }),
  row("", "v1", "Event", "events", true, { shortNames: ["ev"], createOnUpdate: true }),
  row("", "v1", "PersistentVolume", "persistentvolumes", false, { shortNames: ["pv"], status: true }),
  row("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", true, { shortNames: ["pvc"], status: true }),
  row("", "v1", "LimitRange", "limitranges", true, { shortNames: ["limits"] }),
  row("coordination.k8s.io", "v1", "Lease", "leases", true, { createOnUpdate: true, unconditional: false }),
  row("events.k8s.io", "v1", "Event", "events", true, { shortNames: ["ev"], createOnUpdate: true, storage: "events" }),
  row("certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests", false, {
    shortNames: ["csr"],
    status: true,
    subresources: ["approval"],
  }),
  row("certificates.k8s.io", "v1beta1", "ClusterTrustBundle", "clustertrustbundles", false, { unconditional: false }),
  row("certificates.k8s.io", "v1beta1", "PodCertificateRequest", "podcertificaterequests", true, {
    status: true,
    unconditional: false,
  }),
  row("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", false, { unconditional: false }),
  row("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false, { shortNames: ["pc"], generation: true }),
  row("storage.k8s.io", "v1", "CSINode", "csinodes", false, { unconditional: false }),
  row("storage.k8s.io", "v1", "CSIDriver", "csidrivers", false, { unconditional: false }),
  row("storage.k8s.io", "v1", "StorageClass", "storageclasses", false, { shortNames: ["sc"] }),
  row("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", false, { status: true, unconditional: false }),
  row("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", true, {
    shortNames: ["pdb"],
    status: true,
    generation: true,
    unconditional: false,
  }),
  row("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", true, { generation: true }),
  row("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", true, { status: true }),
  row("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", false),
];

/** Virtual resources: a POST is answered, nothing is kept. */
export const REVIEWS: readonly Resource[] = [
  row("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", false, { verbs: ["create"] }),
  row("authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", false, { verbs: ["create"] }),
  row("authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", false, { verbs: ["create"] }),
  row("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", false, {
    verbs: ["create"],
  }),
];

export const ALL: readonly Resource[] = [...RESOURCES, ...REVIEWS];

const BY_PATH = new Map([...RESOURCES, ...REVIEWS].map((one) => [`${one.group}/${one.version}/${one.resource}`, one]));

export function resourceAt(group: string, version: string, resource: string): Resource | undefined {
  return BY_PATH.get(`${group}/${version}/${resource}`);
}

/** What an API server of 1.37 has there: certificates.k8s.io is stable, and its beta is turned off. */
export function laterResourceAt(group: string, version: string, resource: string): Resource | undefined {
  const graduated = group === "certificates.k8s.io" ? resourceAt(group, "v1beta1", resource) : undefined;
  if (graduated === undefined) return resourceAt(group, version, resource);
  return version === "v1" ? { ...graduated, version } : undefined;
}

/** By `resource.group`, or by `resource` alone: the core group's first. Throws if the resource is not served. */
export function resourceNamed(name: string): Resource {
  const found =
    RESOURCES.find(({ key }) => key === name) ??
    RESOURCES.find(({ resource, kind }) => [resource, kind].includes(name));
  if (found === undefined) throw new Error(`the fake API server does not serve "${name}"`);
  return found;
}

export function isServedGroup(group: string): boolean {
  return [...RESOURCES, ...REVIEWS].some((one) => one.group === group);
}
