// Rights of a kubelet: its role's rules; for objects that pods refer to (secrets, config maps, volumes, tokens) the
// graph: only objects of a pod that is bound to that node.

import { fieldsAt, listAt, textAt, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { parseFieldSelector } from "../../../src/workers/apiserver/objects/selectors.js";
import { referencesOf } from "../admission/service-account.js";
import { resourceNamed } from "../resources.js";
import { keyOf } from "../storage/store.js";
import type { World } from "../world.js";
import type { Attributes, Verdict } from "./authorize.js";

const READ = ["get", "list", "watch"];

/** Rules of the role system:node that need no graph: verbs by resource[/subresource].group. */
const RULES: Readonly<Record<string, readonly string[]>> = {
  "tokenreviews.authentication.k8s.io": ["create"],
  "subjectaccessreviews.authorization.k8s.io": ["create"],
  "localsubjectaccessreviews.authorization.k8s.io": ["create"],
  services: READ,
  events: ["create", "update", "patch"],
  "events.events.k8s.io": ["create", "update", "patch"],
  "pods/eviction": ["create"],
  "pods/status": ["update", "patch"],
  "nodes/status": ["update", "patch"],
  "certificatesigningrequests.certificates.k8s.io": ["create", ...READ],
  "csidrivers.storage.k8s.io": READ,
  "runtimeclasses.node.k8s.io": READ,
  "clustertrustbundles.certificates.k8s.io": READ,
  "persistentvolumeclaims/status": ["get", "update", "patch"],
};

export function authorizeNode(world: World, node: string, attributes: Attributes): Verdict {
  const { group, resource, subresource, verb } = attributes;
  const key = `${resource}${subresource === "" ? "" : `/${subresource}`}${group === "" ? "" : `.${group}`}`;
  switch (key) {
    case "nodes":
      return ownNode(node, attributes);
    case "pods":
      return ownPods(world, node, attributes);
    case "secrets":
    case "configmaps":
      return READ.includes(verb) ? referenced(world, node, attributes) : no(`can only read ${what(key)} of this type`);
    case "persistentvolumeclaims":
    case "persistentvolumes":
    case "volumeattachments.storage.k8s.io":
    case "resourceclaims.resource.k8s.io":
      return verb === "get"
        ? referenced(world, node, attributes)
        : no(`can only get individual resources of this type`);
    case "serviceaccounts/token":
      return verb === "create" ? referenced(world, node, attributes) : no("can only create tokens");
    case "serviceaccounts":
      return verb === "get"
        ? referenced(world, node, attributes)
        : no("can only get individual resources of this type");
    case "leases.coordination.k8s.io":
      return ownLease(node, attributes);
    case "csinodes.storage.k8s.io":
      if (!["get", "create", "update", "patch", "delete"].includes(verb))
        return no("can only get, create, update, patch, or delete a CSINode");
      if (verb === "create") return { allowed: true, reason: "" };
      return attributes.name === node
        ? { allowed: true, reason: "" }
        : no("can only access CSINode with the same name as the requesting node");
    case "podcertificaterequests.certificates.k8s.io":
      if (verb === "create" || verb === "get") return { allowed: true, reason: "" };
      return READ.includes(verb) && selects(attributes, "spec.nodeName", node)
        ? { allowed: true, reason: "" }
        : no("can only list/watch with spec.nodeName field selector");
    case "resourceslices.resource.k8s.io":
      return { allowed: true, reason: "" };
    default:
      return { allowed: RULES[key]?.includes(verb) ?? false, reason: "" };
  }
}

function no(reason: string): Verdict {
  return { allowed: false, reason };
}

function what(key: string): string {
  return key === "" ? "objects" : key;
}

function selects({ fieldSelector }: Attributes, field: string, value: string): boolean {
  return parseFieldSelector(fieldSelector).some((term) => term.equal && term.field === field && term.value === value);
}

function ownNode(node: string, { verb, name, subresource }: Attributes): Verdict {
  if (verb === "create" && subresource === "") return { allowed: true, reason: "" };
  if (verb === "delete" || verb === "deletecollection") return { allowed: false, reason: "" };
  if (name === node) return { allowed: true, reason: "" };
  if (READ.includes(verb))
    return no(`node '${node}' cannot read ${name === "" ? "all nodes" : `'${name}'`}, only its own Node object`);
  return { allowed: true, reason: "" };
}

function ownPods(world: World, node: string, attributes: Attributes): Verdict {
  const { verb, namespace, name } = attributes;
  if (verb === "create" || verb === "delete") return { allowed: true, reason: "" };
  if (verb === "get") {
    const pod = world.store.get(resourceNamed("pods"), keyOf(namespace, name));
    const isOwn = pod !== undefined && textAt(pod.spec, "nodeName") === node;
    return isOwn ? { allowed: true, reason: "" } : unrelated(node);
  }
  if (verb !== "list" && verb !== "watch") return { allowed: false, reason: "" };
  if (selects(attributes, "spec.nodeName", node)) return { allowed: true, reason: "" };
  return no("can only list/watch pods with spec.nodeName field selector");
}

function ownLease(node: string, { verb, namespace, name }: Attributes): Verdict {
  if (!["get", "create", "update", "patch", "delete"].includes(verb)) {
    return no("can only get, create, update, patch, or delete a node lease");
  }
  if (namespace !== "kube-node-lease") return no(`can only access leases in the "kube-node-lease" system namespace`);
  if (verb !== "create" && name !== node)
    return no("can only access node lease with the same name as the requesting node");
  return { allowed: true, reason: "" };
}

function unrelated(node: string): Verdict {
  return no(`no relationship found between node '${node}' and this object`);
}

/** Does a pod on the node lead to the object? */
function referenced(world: World, node: string, { resource, namespace, name }: Attributes): Verdict {
  if (name === "") return no("No Object name found");
  const pods = world.store
    .entries(resourceNamed("pods"))
    .map(([, pod]) => pod)
    .filter(
      (pod) =>
        textAt(pod.spec, "nodeName") === node &&
        pod.metadata.annotations?.["kubernetes.io/config.mirror"] === undefined,
    );
  const local = pods.filter((pod) => pod.metadata.namespace === namespace);
  const found = ((): boolean => {
    switch (resource) {
      case "secrets":
        return local.some((pod) => referencesOf(pod).secrets.has(name)) || secretOfVolume(world, pods, namespace, name);
      case "configmaps":
        return local.some((pod) => referencesOf(pod).configmaps.has(name));
      case "persistentvolumeclaims":
        return local.some((pod) => referencesOf(pod).claims.has(name));
      case "persistentvolumes":
        return volumesOf(world, pods).some((volume) => volume.metadata.name === name);
      case "serviceaccounts":
        return local.some((pod) => textAt(pod.spec, "serviceAccountName") === name);
      case "resourceclaims":
        return local.some((pod) => claimsOf(pod).includes(name));
      default:
        return textAt(world.store.get(resourceNamed("volumeattachments"), name)?.spec, "nodeName") === node;
    }
  })();
  return found ? { allowed: true, reason: "" } : unrelated(node);
}

function volumesOf(world: World, pods: readonly ApiObject[]): ApiObject[] {
  return world.store
    .entries(resourceNamed("persistentvolumes"))
    .map(([, volume]) => volume)
    .filter((volume) => {
      const claim = fieldsAt(volume.spec, "claimRef");
      return pods.some(
        (pod) => pod.metadata.namespace === claim["namespace"] && referencesOf(pod).claims.has(String(claim["name"])),
      );
    });
}

/**
 * Secrets that a CSI volume's node calls take, or the plugin of another volume; without a namespace, the claim's is
 * meant.
 */
function secretOfVolume(world: World, pods: readonly ApiObject[], namespace: string, name: string): boolean {
  return volumesOf(world, pods).some((volume) => {
    const csi = fieldsAt(volume.spec, "csi");
    const references = ["nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"].map((field) =>
      fieldsAt(csi, field),
    );
    const claimed = fieldsAt(volume.spec, "claimRef")["namespace"];
    const others = ["flexVolume", "iscsi"].map((kind) => {
      const reference = fieldsAt(fieldsAt(volume.spec, kind), "secretRef");
      return { name: reference["name"], namespace: reference["namespace"] ?? claimed };
    });
    return [...references, ...others].some(
      (reference) => reference["name"] === name && reference["namespace"] === namespace,
    );
  });
}

function claimsOf(pod: ApiObject): string[] {
  const named = listAt(pod.spec, "resourceClaims").map((claim) => textAt(claim, "resourceClaimName"));
  const made = listAt(pod.status, "resourceClaimStatuses").map((claim) => textAt(claim, "resourceClaimName"));
  return [...named, ...made].filter((name) => name !== undefined);
}
