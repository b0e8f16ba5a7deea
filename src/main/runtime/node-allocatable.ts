// What pods may use of this node, as the downward API shows it: as the node's object says, or as the kubelet reckons.
import type { ResourceList } from "../../shared/api/meta.js";
import type { ClusterAccess } from "../model/cluster-access.js";
import type { NodeFacts } from "./node-runtime.js";

export function nodeAllocatable(
  { allocatable }: Pick<NodeFacts, "allocatable">,
  cluster: ClusterAccess | undefined,
): ResourceList {
  return { ...allocatable, ...cluster?.()?.node()?.status?.allocatable };
}
