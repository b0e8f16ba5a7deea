// The attributes of a request for authorization: a verb on a subresource of this node.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/

const VERBS: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

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
];

/** "" for a method that has no verb. */
export function verbOf(method: string): string {
  return VERBS[method] ?? "";
}

/** @param path of the request, still percent-encoded */
export function subresourcesOf(path: string): readonly string[] {
  const decoded = decode(path);
  const found = SUBRESOURCES.find(([prefix]) => decoded === prefix || decoded.startsWith(`${prefix}/`));
  return found?.[1] ?? ["proxy"];
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
