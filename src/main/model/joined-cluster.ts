// The cluster connection, for components that need it for all their work.

import type { ClusterAccess, ClusterObjects } from "./cluster-access.js";

/** The kubelet has a kubeconfig, but has not yet got as far as the API server. */
class ClusterNotJoinedError extends Error {
  override readonly name = "ClusterNotJoinedError";
  constructor() {
    super("the node has not joined its cluster yet; trying again");
  }
}

/** @throws ClusterNotJoinedError */
export function joined(access: ClusterAccess | undefined): ClusterObjects {
  const cluster = access?.();
  if (cluster === undefined) throw new ClusterNotJoinedError();
  return cluster;
}
