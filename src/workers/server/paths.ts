// The first path segments of the ports. A row has the subresources for the authorisation and marks debug and long-running routes. A route
// whose segment has no row is a compile error.

interface Tree {
  /** A user with the right to one of these may send the request; tried in this order. Absent: only the node's proxy. */
  subresources?: readonly string[];
  /** Exists on the authenticated port only, and there only with enableDebuggingHandlers; else its paths return 405. */
  debug?: true;
  /** Label long_running of kubelet_http_*: upstream's values, by which portForward is not long-running. */
  longRunning?: true;
}

/** Source: https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/ */
const TREES = {
  healthz: { subresources: ["healthz", "proxy"] },
  pods: { subresources: ["pods", "proxy"] },
  stats: { subresources: ["stats"] },
  metrics: { subresources: ["metrics"] },
  run: { debug: true },
  exec: { debug: true, longRunning: true },
  attach: { debug: true, longRunning: true },
  portForward: { debug: true },
  containerLogs: { debug: true },
  configz: { subresources: ["configz", "proxy"] },
  runningpods: { subresources: ["pods", "proxy"], debug: true },
  checkpoint: { subresources: ["checkpoint"] },
  logs: { subresources: ["log"], debug: true },
  debug: { longRunning: true },
  flagz: { subresources: ["configz"] },
  statusz: { subresources: ["statusz"] },
  // Our own: all that the status page shows, logs and configuration too, and nothing that changes the node.
  ui: { subresources: ["ui", "proxy"] },
  // Our own; not the proxy's: a static pod has every right on the node.
  manifests: { subresources: ["manifests"] },
} as const satisfies Readonly<Record<string, Tree>>;

export type TreeName = keyof typeof TREES;

/** ":name" stands for one segment, "*" at the end for all that follow: "/pods/:name", "/logs/*". The admin socket alone has /nodelet. */
export type RoutePath = "/" | `/${TreeName | "nodelet"}` | `/${TreeName | "nodelet"}/${string}`;

const ROWS = new Map<string, Tree>(Object.entries(TREES));

/** undefined: no route has this first segment. */
export function treeOf(segment: string): Tree | undefined {
  return ROWS.get(segment);
}

/** Trees that return 405 while enableDebuggingHandlers is false. */
export const DEBUG_TREES: readonly TreeName[] = (Object.keys(TREES) as TreeName[]).filter(
  (name) => ROWS.get(name)?.debug === true,
);
