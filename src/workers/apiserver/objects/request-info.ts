// From method and path to verb and resource: the server's own reading. Authorization, faults and the call log use it.

import { queryFlag } from "../../../shared/kubernetes/api/query-flag.js";
import type { Resource } from "./resource.js";

export interface RequestInfo {
  /** get, list, watch, create, update, patch, delete, deletecollection; the method in lower case for other paths. */
  verb: string;
  path: string;
  isResource: boolean;
  group: string;
  version: string;
  /** Plural as in the path; "" for other paths. */
  resource: string;
  subresource: string;
  /** The rest of `…/proxy/<rest>` as it was sent, with its first slash; "" for others. */
  proxied: string;
  namespace: string;
  name: string;
  /** Undefined if the resource is not served. */
  served: Resource | undefined;
}

const VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

export type FindResource = (group: string, version: string, resource: string) => Resource | undefined;

/**
 * @param path as it was sent
 * @param segments of the path after its first slash, decoded. With an empty one before others the path names no
 *   resource.
 */
export function requestInfo(
  method: string,
  { path, segments }: { path: string; segments: readonly string[] },
  query: URLSearchParams,
  resourceAt: FindResource,
): RequestInfo {
  const info: RequestInfo = {
    verb: method.toLowerCase(),
    path,
    isResource: false,
    group: "",
    version: "",
    resource: "",
    subresource: "",
    proxied: "",
    namespace: "",
    name: "",
    served: undefined,
  };
  const rest = namesOf(segments);
  const root = rest.shift();
  if (root !== "api" && root !== "apis") return info;
  if (root === "apis") info.group = rest.shift() ?? "";
  info.version = rest.shift() ?? "";
  if (rest.length === 0) return info;
  info.isResource = true;
  info.verb = VERBS[method] ?? method.toLowerCase();
  if (rest[0] === "namespaces" && rest.length >= 3 && !["status", "finalize"].includes(rest[2] ?? "")) {
    info.namespace = rest[1] ?? "";
    rest.splice(0, 2);
  } else if (rest[0] === "namespaces" && rest.length >= 2) info.namespace = rest[1] ?? "";
  [info.resource = "", info.name = ""] = rest;
  info.subresource = rest.slice(2).join("/");
  if (rest[2] === "proxy") {
    info.subresource = "proxy";
    info.proxied = /\/proxy(\/.*)$/.exec(path)?.[1] ?? "";
  }
  info.served = resourceAt(info.group, info.version, info.resource);
  readCollectionVerb(info, method, query);
  return info;
}

/** The names of a resource's path, without its last slash; none if one of them is empty. */
function namesOf(segments: readonly string[]): string[] {
  const last = segments.findLastIndex((part) => part !== "");
  const names = segments.slice(0, last + 1);
  const proxied = names.indexOf("proxy");
  return names.slice(0, proxied === -1 ? undefined : proxied).includes("") ? [] : names;
}

function readCollectionVerb(info: RequestInfo, method: string, query: URLSearchParams): void {
  // Of one object by its name there is no watch: the option does not count.
  const isWatch = method === "GET" && queryFlag(query, "watch") && info.name === "";
  if (isWatch) info.verb = "watch";
  else if (info.name === "" && info.verb === "get") info.verb = "list";
  else if (info.name === "" && info.verb === "delete") info.verb = "deletecollection";
  if (info.name !== "" || !["list", "watch", "deletecollection"].includes(info.verb)) return;
  // A selector for one name is authorized as if that one was asked for.
  const named = /(?:^|,)metadata\.name==?([^,]+)/.exec(query.get("fieldSelector") ?? "")?.[1];
  if (named !== undefined) info.name = named;
}
