// The attributes of a request for authorization: a verb on a subresource of this node.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/

const VERBS: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

const MANIFESTS_PATH = "/manifests";

/** A user who may do one of the listed may do it; tried in this order. Everything else is the node's proxy. */
const SUBRESOURCES: readonly (readonly [path: string, subresources: readonly string[]])[] = [
  ["/pods", ["pods", "proxy"]],
  ["/runningpods", ["pods", "proxy"]],
  ["/healthz", ["healthz", "proxy"]],
  ["/configz", ["configz", "proxy"]],
  ["/stats", ["stats"]],
  ["/metrics", ["metrics"]],
  ["/logs", ["log"]],
  ["/checkpoint", ["checkpoint"]],
  ["/statusz", ["statusz"]],
  ["/flagz", ["configz"]],
  // Our own: all that the status page shows, logs and configuration too, and nothing that changes the node.
  ["/ui", ["ui", "proxy"]],
  // Not the proxy's: a static pod has every right on the node.
  [MANIFESTS_PATH, ["manifests"]],
];

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
  const decoded = decode(path);
  const found = SUBRESOURCES.find(([prefix]) => isBelow(decoded, prefix));
  return found?.[1] ?? ["proxy"];
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
