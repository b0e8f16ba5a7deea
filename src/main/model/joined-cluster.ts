// The cluster connection, for components that need it for all their work.

import { OperatorError } from "../../shared/base/errors/operator-error.js";
import type { ClusterAccess, ClusterObjects } from "./cluster-access.js";

/** @throws OperatorError */
export function joined(access: ClusterAccess | undefined): ClusterObjects {
  const cluster = access?.();
  if (cluster === undefined) throw new OperatorError("the node has not joined its cluster yet; trying again");
  return cluster;
}
