// Label and field selectors of lists and watches. A field that a resource does not index is refused, as the server
// does.

import { quote } from "../../../shared/base/text/quote.js";
import { badRequest } from "./errors.js";
import { fieldOf, isFields, type ApiObject } from "./object.js";
import type { Resource } from "./resource.js";

export type Filter = (object: ApiObject) => boolean;

const POD_FIELDS = [
  "spec.nodeName",
  "spec.restartPolicy",
  "spec.schedulerName",
  "spec.serviceAccountName",
  "spec.hostNetwork",
  "status.phase",
  "status.podIP",
  "status.nominatedNodeName",
];
const EVENT_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  pods: POD_FIELDS,
  nodes: ["spec.unschedulable"],
  namespaces: ["status.phase"],
  secrets: ["type"],
  events: [...EVENT_FIELDS.map((field) => `involvedObject.${field}`), "reason", "reportingComponent", "source", "type"],
  "certificatesigningrequests.certificates.k8s.io": ["spec.signerName"],
  "clustertrustbundles.certificates.k8s.io": ["spec.signerName"],
  // Upstream's kubelet watches the services that have a cluster IP.
  services: ["spec.clusterIP", "spec.type"],
  "podcertificaterequests.certificates.k8s.io": ["spec.signerName", "spec.nodeName"],
  "resourceslices.resource.k8s.io": ["spec.nodeName", "spec.driver"],
};

/** Conditions and values of a query: each is looked at for each object of a list, and for each change of a watch. */
export const MAX_TERMS = 256;

/** Both selectors of a query as one test; undefined when there are none. */
export function filterOf(resource: Resource, query: URLSearchParams): Filter | undefined {
  const labels = query.get("labelSelector") ?? "";
  const fields = query.get("fieldSelector") ?? "";
  const commas = (labels + fields).split(",").length;
  if (commas > MAX_TERMS) throw badRequest(`the selectors have more than ${MAX_TERMS} conditions and values`);
  const tests = [...labelTests(labels), ...fieldTests(resource, fields)];
  return tests.length === 0 ? undefined : (object) => tests.every((holds) => holds(object));
}

/** One condition of a field selector. @internal */
export interface FieldTerm {
  field: string;
  value: string;
  equal: boolean;
}

/** Its conditions, all of which must hold. @internal */
export function parseFieldSelector(selector: string): FieldTerm[] {
  return selector
    .split(",")
    .filter((part) => part !== "")
    .map((part) => {
      const match = /^([^=!]+)(!=|==?)(.*)$/.exec(part);
      if (match === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${part}'`);
      const [, field = "", operator, value = ""] = match;
      return { field: field.trim(), value: value.trim(), equal: operator !== "!=" };
    });
}

function fieldTests(resource: Resource, selector: string): Filter[] {
  const known = ["metadata.name", ...(resource.namespaced ? ["metadata.namespace"] : [])];
  known.push(...(FIELDS[resource.key] ?? []));
  return parseFieldSelector(selector).map(({ field, value, equal }) => {
    if (!known.includes(field)) throw unknownField(resource, known, field);
    return (object) => (fieldText(object, field) === value) === equal;
  });
}

/** Kinds with fields of their own word it in their own way. */
function unknownField(resource: Resource, known: readonly string[], field: string): Error {
  if (FIELDS[resource.key] !== undefined) return badRequest(`field label not supported: ${field}`);
  const names = known.map((name) => quote(name)).join(", ");
  return badRequest(`${quote(field)} is not a known field selector: only ${names}`);
}

function fieldText(object: ApiObject, path: string): string {
  let value: unknown = path === "source" ? object["source"] : object;
  if (path === "source") value = isFields(value) ? value["component"] : "";
  else for (const part of path.split(".")) value = isFields(value) ? value[part] : undefined;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return path === "spec.unschedulable" || path === "spec.hostNetwork" ? "false" : "";
}

/** Split at commas outside of parentheses. */
function termsOf(selector: string): string[] {
  const terms = [""];
  let inside = false;
  for (const character of selector) {
    if (character === "(" || character === ")") inside = character === "(";
    if (character === "," && !inside) terms.push("");
    else terms.push(`${terms.pop() ?? ""}${character}`);
  }
  return terms;
}

function labelTests(selector: string): Filter[] {
  if (selector.trim() === "") return [];
  return termsOf(selector).map((part) => labelTest(part.trim(), selector));
}

function labelTest(term: string, selector: string): Filter {
  const labelOf = ({ metadata }: ApiObject, key: string): unknown => fieldOf(metadata.labels ?? {}, key);
  const set = /^([\w./-]+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term);
  if (set !== null) {
    const [, key = "", operator, list = ""] = set;
    const values = new Set<unknown>(list.split(",").map((value) => value.trim()));
    return (object) => values.has(labelOf(object, key)) === (operator === "in");
  }
  const equality = /^([\w./-]+)\s*(!=|==?)\s*([\w.-]*)$/.exec(term);
  if (equality !== null) {
    const [, key = "", operator, value = ""] = equality;
    return (object) => (labelOf(object, key) === value) === (operator !== "!=");
  }
  const order = /^([\w./-]+)\s*([<>])\s*(-?\d{1,18})$/.exec(term);
  if (order !== null) {
    const [, key = "", operator, bound = ""] = order;
    return (object) => isBeyond(labelOf(object, key), operator === ">" ? 1 : -1, BigInt(bound));
  }
  const presence = /^(!?)\s*([\w./-]+)$/.exec(term);
  if (presence === null) {
    throw badRequest(`unable to parse requirement: found '${term}' in label selector ${quote(selector)}`);
  }
  const [, not, key = ""] = presence;
  return (object) => (labelOf(object, key) !== undefined) === (not === "");
}

/** The label is an integer above (1) or below (-1) the bound. */
function isBeyond(label: unknown, side: 1 | -1, bound: bigint): boolean {
  if (typeof label !== "string" || !/^[+-]?\d{1,18}$/.test(label)) return false;
  return BigInt(side) * (BigInt(label) - bound) > 0n;
}
