// Rights: administrators and the kubelet may do everything. Readers may look at everything but secrets, and read logs.
// A reader is a user of the readers' group whom the readers' file names: who is taken out of it has no rights.

import { quote } from "../../../shared/base/text/quote.js";
import { READERS_GROUP } from "../../../shared/contracts/apiserver.js";
import type { User } from "../../server/auth/user.js";
import { FieldError, invalid } from "../objects/errors.js";
import { fieldsAt, isFields, nowText, textAt, type ApiObject, type Fields } from "../objects/object.js";
import { apiVersionOf, type Resource } from "../objects/resource.js";
import { METRICS, RESOURCES, REVIEWS } from "../objects/resources.js";
import type { World } from "../world.js";

export interface Attributes {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  /** Path of a request that is about no resource. */
  path: string;
  isResource: boolean;
}

const ALL_RIGHTS = ["system:masters", "system:nodes"];
const READING = ["get", "list", "watch"];
/** A GET of the others acts on the node, or reads what a secret holds. */
const READ_SUBRESOURCES = ["", "status", "log"];
const ASKS_ABOUT_ITSELF = ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"];

export type IsReader = (name: string) => boolean;

/** Administrators and the kubelet. */
export function hasAllRights({ groups }: Pick<User, "groups">): boolean {
  return groups.some((group) => ALL_RIGHTS.includes(group));
}

export function isAllowed(isReader: IsReader, { name, groups }: User, access: Attributes): boolean {
  if (hasAllRights({ groups })) return true;
  if (!groups.includes(READERS_GROUP) || !isReader(name)) return false;
  const { verb, resource, subresource, isResource } = access;
  if (!isResource) return verb === "get";
  if (ASKS_ABOUT_ITSELF.includes(resource)) return verb === "create";
  return READING.includes(verb) && resource !== "secrets" && READ_SUBRESOURCES.includes(subresource);
}

/** Upstream's sentence for a refusal. */
export function refusalText(
  user: User,
  { verb, group, resource, subresource, namespace, path, isResource }: Attributes,
): string {
  if (!isResource) return `User ${quote(user.name)} cannot ${verb} path ${quote(path)}`;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${quote(namespace)}`;
  return `User ${quote(user.name)} cannot ${verb} resource ${quote(what)} in API group ${quote(group)} ${where}`;
}

/** @param about whom another's rights are asked for; undefined: the client's own */
function reviewFaults(spec: Fields, about: Pick<User, "name" | "groups"> | undefined): FieldError[] {
  const isResource = isFields(spec["resourceAttributes"]);
  const other = fieldsAt(spec, "nonResourceAttributes");
  const isOther = Object.keys(other).length > 0;
  const faults: FieldError[] = [];
  if (isResource && isOther) {
    const both = "cannot be specified in combination with resourceAttributes";
    faults.push(FieldError.invalid("spec.nonResourceAttributes", other, both));
  }
  if (!isResource && !isOther) {
    const one = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    faults.push(FieldError.invalid("spec.resourceAttributes", null, one));
  }
  if (about?.name === "" && about.groups.length === 0) {
    faults.push(FieldError.invalid("spec.user", "", "at least one of user or group must be specified"));
  }
  return faults;
}

/** What {@link isAllowed} allows, as rules. */
function rulesOf(user: User): Fields {
  const rule = (verbs: readonly string[], apiGroups: readonly string[], resources: readonly string[]): Fields => ({
    verbs,
    apiGroups,
    resources,
  });
  if (hasAllRights(user)) {
    return { resourceRules: [rule(["*"], ["*"], ["*"])], nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }] };
  }
  const readable = [...RESOURCES, ...METRICS].filter((one) => one.resource !== "secrets");
  const shown = readable.map((one) => {
    const below = one.status ? ["status"] : [];
    const log = one.key === "pods" ? ["log"] : [];
    return rule(READING, [one.group], [one.resource, ...[...below, ...log].map((name) => `${one.resource}/${name}`)]);
  });
  const asking = REVIEWS.filter((one) => ASKS_ABOUT_ITSELF.includes(one.resource));
  const asks = asking.map((one) => rule(["create"], [one.group], [one.resource]));
  return { resourceRules: [...shown, ...asks], nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["*"] }] };
}

/** Reviews of access, and of who the client is. */
export function review(
  { clock }: World,
  isReader: IsReader,
  resource: Resource,
  body: ApiObject,
  caller: User,
): Fields {
  const head = { kind: resource.kind, apiVersion: apiVersionOf(resource) };
  if (resource.resource === "selfsubjectreviews") {
    const { name: username, groups, extra } = caller;
    const userInfo = { username, groups: [...groups], extra };
    return { ...head, metadata: { creationTimestamp: nowText(clock) }, status: { userInfo } };
  }
  const spec = fieldsAt(body, "spec");
  if (resource.resource === "selfsubjectrulesreviews") {
    return { ...head, metadata: {}, spec, status: { ...rulesOf(caller), incomplete: false } };
  }
  const { groups: named } = spec;
  const groups = Array.isArray(named) ? named.filter((group) => typeof group === "string") : [];
  const about =
    resource.resource === "selfsubjectaccessreviews" ? undefined : { name: textAt(spec, "user") ?? "", groups };
  const faults = reviewFaults(spec, about);
  if (faults.length > 0) throw invalid({ group: resource.group, kind: resource.kind }, "", faults);
  const isResource = isFields(spec["resourceAttributes"]);
  const asked = fieldsAt(spec, isResource ? "resourceAttributes" : "nonResourceAttributes");
  const read = (field: string): string => textAt(asked, field) ?? "";
  const allowed = isAllowed(isReader, about ?? caller, {
    verb: read("verb"),
    group: read("group"),
    resource: read("resource"),
    subresource: read("subresource"),
    namespace: read("namespace"),
    path: read("path"),
    isResource,
  });
  return { ...head, metadata: {}, spec, status: { allowed } };
}
