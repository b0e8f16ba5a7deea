// The first path segments of the ports. A row has the subresources for the authorisation and marks debug and
// long-running routes. A route whose segment has no row is a compile error.

interface Tree {
  /** A user with the right to one of these may send the request; tried in this order. Absent: only the node's proxy. */
  subresources?: readonly string[];
  /** Exists on the authenticated port only, and there only with enableDebuggingHandlers; else its paths return 405. */
  debug?: true;
  /**
   * No path below it is served but those of routes, which no configuration takes away. Upstream's ServeMux has them one
   * by one, so it answers others before its filters.
   */
  exact?: true;
  /** Second segments below which paths may be served, by any configuration. */
  branches?: readonly string[];
  /** Label long_running of kubelet_http_*: upstream's values, by which portForward is not long-running. */
  longRunning?: true;
}

/** Source: https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/ */
const TREES = {
  healthz: { subresources: ["healthz", "proxy"], exact: true },
  pods: { subresources: ["pods", "proxy"] },
  stats: { subresources: ["stats"] },
  metrics: { subresources: ["metrics"], exact: true },
  run: { debug: true },
  exec: { debug: true, longRunning: true },
  attach: { debug: true, longRunning: true },
  portForward: { debug: true },
  containerLogs: { debug: true },
  configz: { subresources: ["configz", "proxy"], exact: true },
  runningpods: { subresources: ["pods", "proxy"], debug: true },
  checkpoint: { subresources: ["checkpoint"] },
  logs: { subresources: ["log"], debug: true },
  debug: { longRunning: true, branches: ["pprof", "flags", "pods"] },
  flagz: { subresources: ["configz"], exact: true },
  statusz: { subresources: ["statusz"], exact: true },
  // Our own: all that the status page shows, logs and configuration too, and nothing that changes the node.
  ui: { subresources: ["ui", "proxy"] },
  // Our own; not the proxy's: a static pod has every right on the node.
  manifests: { subresources: ["manifests"] },
} as const satisfies Readonly<Record<string, Tree>>;

export type TreeName = keyof typeof TREES;

/**
 * ":name" stands for one segment, "*" at the end for all that follow: "/pods/:name", "/logs/*". The admin socket alone
 * has /nodelet.
 */
export type RoutePath = "/" | `/${TreeName | "nodelet"}` | `/${TreeName | "nodelet"}/${string}`;

const ROWS = new Map<string, Tree>(Object.entries(TREES));

/** undefined: no route has this first segment. */
export function treeOf(segment: string): Tree | undefined {
  return ROWS.get(segment);
}

/**
 * Whether no configuration of this server has a route for the path. The names above are public, so the response tells
 * nothing about the node.
 * @param segments of a path without a route
 */
export function isServedByNone([first = "", ...rest]: readonly string[]): boolean {
  const tree = treeOf(first);
  if (tree === undefined) return true;
  if (tree.exact === true) return rest.length > 0;
  return tree.branches !== undefined && !tree.branches.includes(rest[0] ?? "");
}

/** Trees that return 405 while enableDebuggingHandlers is false. */
export const DEBUG_TREES: readonly TreeName[] = (Object.keys(TREES) as TreeName[]).filter(
  (name) => ROWS.get(name)?.debug === true,
);
