// Rights of a user. Masters have all rights, kubelets those of the Node authorizer and its rules, others the grants of
// the tests and of all users.

import { nodeOf } from "../admission/node-restriction.js";
import type { User, World } from "../world.js";
import { authorizeNode } from "./node-authorizer.js";

export interface Attributes {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  /** Path of requests that are about no resource. */
  path: string;
  isResource: boolean;
  fieldSelector: string;
}

export interface Verdict {
  allowed: boolean;
  /** Why not, as some authorizers tell. */
  reason: string;
}

const PUBLIC_PATHS = /^\/(healthz|livez|readyz|version)(\/|$)/;
const DISCOVERY_PATHS = /^\/(api|apis|openapi)(\/|$)/;
const SELF_REVIEWS = ["selfsubjectaccessreviews", "selfsubjectreviews", "selfsubjectrulesreviews"];

export function authorize(world: World, user: User, attributes: Attributes): Verdict {
  if (user.groups.includes("system:masters")) return yes();
  if (world.settings.grants.some((grant) => grant(user, attributes))) return yes();
  const { verb, path, isResource, resource } = attributes;
  if (!isResource) {
    const reads = ["get", "head"].includes(verb);
    if (reads && PUBLIC_PATHS.test(path)) return yes();
    return { allowed: reads && DISCOVERY_PATHS.test(path) && isKnown(user), reason: "" };
  }
  if (SELF_REVIEWS.includes(resource) && verb === "create" && isKnown(user)) return yes();
  if (user.groups.includes("system:bootstrappers") && isBootstrap(attributes)) return yes();
  const node = nodeOf(user);
  return node === undefined ? { allowed: false, reason: "" } : authorizeNode(world, node, attributes);
}

/** The server's sentence for a refusal. */
export function refusalText(
  user: User,
  { verb, group, resource, subresource, namespace, path, isResource }: Attributes,
  reason: string,
): string {
  const tail = reason === "" ? "" : `: ${reason}`;
  if (!isResource) return `User "${user.name}" cannot ${verb} path "${path}"${tail}`;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  return `User "${user.name}" cannot ${verb} resource "${what}" in API group "${group}" ${where}${tail}`;
}

function yes(): Verdict {
  return { allowed: true, reason: "" };
}

function isKnown({ groups }: User): boolean {
  return groups.includes("system:authenticated");
}

/** The node-bootstrapper role: to ask for a certificate and look whether it came. */
function isBootstrap({ group, resource, verb, subresource }: Attributes): boolean {
  const isRequest = group === "certificates.k8s.io" && resource === "certificatesigningrequests" && subresource === "";
  return isRequest && ["create", "get", "list", "watch"].includes(verb);
}
