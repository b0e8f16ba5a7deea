// The attributes of a request for authorization: a verb on a subresource of this node.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/

import { treeOf } from "../paths.js";

const VERBS: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

const MANIFESTS_PATH = "/manifests";

/** "" for a method that has no verb. */
export function verbOf(method: string): string {
  return VERBS[method] ?? "";
}

/** The manifest API reads bodies itself, and serves no anonymous user: on a stand-alone node all users may do everything. */
export function isManifestPath(path: string): boolean {
  return isBelow(decode(path), MANIFESTS_PATH);
}

/** @param path of the request, still percent-encoded */
export function subresourcesOf(path: string): readonly string[] {
  const [root, segment = ""] = decode(path).split("/");
  return (root === "" ? treeOf(segment)?.subresources : undefined) ?? ["proxy"];
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}
