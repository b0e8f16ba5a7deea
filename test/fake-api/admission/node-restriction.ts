// The NodeRestriction plug-in: a node's agent touches its own Node, lease, CSINode and pods, and makes mirror pods
// only.

import { forbidden } from "../../../src/workers/apiserver/objects/errors.js";
import { isSame, listAt, textAt, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { Target, WriteContext } from "../registry/request.js";
import type { User } from "../world.js";
import { restrictPodCertificate } from "./pod-certificate.js";
import { MIRROR } from "./service-account.js";

/** The name of the node whose agent it is. */
export function nodeOf({ name, groups }: User): string | undefined {
  if (!groups.includes("system:nodes") || !name.startsWith("system:node:")) return undefined;
  return name.slice("system:node:".length);
}

export function restrictNodeCreate(target: Target, object: ApiObject, context: WriteContext): void {
  const node = nodeOf(context.user);
  if (node === undefined) return;
  const refuse = (why: string): Error => forbidden(target.resource, object.metadata.name, why);
  switch (target.resource.key) {
    case "pods":
      restrictMirror(object, node, refuse);
      return;
    case "nodes":
      restrictOwn(object.metadata.name, node, refuse);
      restrictLabels(object, undefined, node, refuse);
      return;
    case "leases.coordination.k8s.io":
      restrictLease(target, object.metadata.name, node, refuse);
      return;
    case "csinodes.storage.k8s.io":
      if (object.metadata.name !== node)
        throw refuse("can only access CSINode with the same name as the requesting node");
      return;
    case "podcertificaterequests.certificates.k8s.io":
      restrictPodCertificate(target, object, node, refuse, context);
      return;
    default:
  }
}

export function restrictNodeUpdate(
  target: Target,
  subresource: string,
  next: ApiObject,
  old: ApiObject,
  { user }: WriteContext,
): void {
  const node = nodeOf(user);
  if (node === undefined) return;
  const refuse = (why: string): Error => forbidden(target.resource, target.name, why);
  switch (target.resource.key) {
    case "pods":
      if (subresource !== "status")
        throw refuse(`unexpected operation "UPDATE", node "${node}" can only create and delete mirror pods`);
      if (textAt(old.spec, "nodeName") !== node) {
        throw refuse(`node "${node}" can only update pod status for pods with spec.nodeName set to itself`);
      }
      if (!isSame(next.metadata.labels, old.metadata.labels)) {
        throw refuse(`node "${node}" cannot update labels through pod status`);
      }
      return;
    case "nodes":
      restrictOwn(target.name, node, refuse);
      restrictLabels(next, old, node, refuse);
      if (!isSame(next.spec?.["taints"], old.spec?.["taints"])) {
        throw refuse(`node "${node}" is not allowed to modify taints`);
      }
      if (!isSame(next.metadata.ownerReferences ?? [], old.metadata.ownerReferences ?? [])) {
        throw refuse(`node "${node}" is not allowed to modify ownerReferences`);
      }
      return;
    case "leases.coordination.k8s.io":
      restrictLease(target, target.name, node, refuse);
      return;
    case "csinodes.storage.k8s.io":
      if (target.name !== node) throw refuse("can only access CSINode with the same name as the requesting node");
      return;
    default:
  }
}

export function restrictNodeDelete(target: Target, old: ApiObject, { user }: WriteContext): void {
  const node = nodeOf(user);
  if (node === undefined) return;
  const refuse = (why: string): Error => forbidden(target.resource, target.name, why);
  if (target.resource.key === "pods" && textAt(old.spec, "nodeName") !== node) {
    throw refuse(`node "${node}" can only delete pods with spec.nodeName set to itself`);
  }
  if (target.resource.key === "nodes") restrictOwn(target.name, node, refuse);
  if (target.resource.key === "leases.coordination.k8s.io") restrictLease(target, target.name, node, refuse);
}

type Refuse = (why: string) => Error;

function restrictMirror(pod: ApiObject, node: string, refuse: Refuse): void {
  if (pod.metadata.annotations?.[MIRROR] === undefined) {
    throw refuse(`pod does not have "${MIRROR}" annotation, node "${node}" can only create mirror pods`);
  }
  if (textAt(pod.spec, "nodeName") !== node) {
    throw refuse(`node "${node}" can only create pods with spec.nodeName set to itself`);
  }
  const owners = listAt(pod.metadata, "ownerReferences");
  if (owners.length === 0) throw refuse(`node "${node}" can only create pods with an owner reference set to itself`);
  if (owners.length > 1)
    throw refuse(`node "${node}" can only create pods with a single owner reference set to itself`);
  for (const owner of owners) {
    if (owner["apiVersion"] !== "v1" || owner["kind"] !== "Node" || owner["name"] !== node) {
      throw refuse(`node "${node}" can only create pods with an owner reference set to itself`);
    }
    if (owner["controller"] !== true) {
      throw refuse(`node "${node}" can only create pods with a controller owner reference set to itself`);
    }
  }
}

function restrictOwn(name: string, node: string, refuse: Refuse): void {
  if (name !== node) throw refuse(`node "${node}" is not allowed to modify node "${name}"`);
}

function restrictLease({ namespace }: Target, name: string, node: string, refuse: Refuse): void {
  if (namespace !== "kube-node-lease") throw refuse('can only access leases in the "kube-node-lease" system namespace');
  if (name !== node) throw refuse("can only access node lease with the same name as the requesting node");
}

const OWN_LABELS = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/arch",
  "kubernetes.io/os",
  "beta.kubernetes.io/instance-type",
  "node.kubernetes.io/instance-type",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/os",
]);
const OWN_DOMAINS = ["kubelet.kubernetes.io", "node.kubernetes.io"];

/** Labels of Kubernetes' own domains, which decide where pods may go. */
function restrictLabels(next: ApiObject, old: ApiObject | undefined, node: string, refuse: Refuse): void {
  const [after, before] = [next.metadata.labels ?? {}, old?.metadata.labels ?? {}];
  const changed = [...new Set([...Object.keys(after), ...Object.keys(before)])].filter(
    (key) => after[key] !== before[key],
  );
  const restricted = changed.filter((key) => domainOf(key).endsWith("node-restriction.kubernetes.io")).sort();
  if (old === undefined && restricted.length > 0) {
    throw refuse(`node "${node}" is not allowed to set the following labels: ${restricted.join(", ")}`);
  }
  const foreign = changed.filter((key) => isKubernetes(key) && !isOwn(key)).sort();
  if (old === undefined || foreign.length === 0) return;
  throw refuse(`is not allowed to modify labels: ${foreign.join(", ")}`);
}

function domainOf(label: string): string {
  return label.includes("/") ? (label.split("/")[0] ?? "") : "";
}

function isKubernetes(label: string): boolean {
  return ["kubernetes.io", "k8s.io"].some((one) => domainOf(label) === one || domainOf(label).endsWith(`.${one}`));
}

function isOwn(label: string): boolean {
  if (OWN_LABELS.has(label)) return true;
  return OWN_DOMAINS.some((one) => domainOf(label) === one || domainOf(label).endsWith(`.${one}`));
}
