// The attributes of a request for authorization: a verb on a subresource of this node.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/

import type { Call } from "../http/answer.js";
import { treeOf, type TreeName } from "../http/paths.js";

/** A client of HTTP/2 may send any method, "constructor" too. */
const VERBS: ReadonlyMap<string, string> = new Map([
  ["POST", "create"],
  ["GET", "get"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);

const MANIFESTS: TreeName = "manifests";

/** "" for a method that has no verb. */
export function verbOf(method: string): string {
  return VERBS.get(method) ?? "";
}

/**
 * The path that is authorised: the matched route's. Without a route the response is 404, and the path tells who gets
 * it.
 */
export function authorisedPath({ route, target }: Pick<Call, "route" | "target">): string {
  return route?.path ?? target.path;
}

/**
 * The manifest API reads bodies itself, and serves no anonymous user: on a stand-alone node all users may do
 * everything.
 */
export function isManifestPath(path: string): boolean {
  return firstSegment(path) === MANIFESTS;
}

/** @param path of a route, or of a target without one */
export function subresourcesOf(path: string): readonly string[] {
  return treeOf(firstSegment(path))?.subresources ?? ["proxy"];
}

function firstSegment(path: string): string {
  return path.split("/", 2)[1] ?? "";
}
