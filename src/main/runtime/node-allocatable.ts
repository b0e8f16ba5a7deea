// Node allocatable for the downward API: from the Node object, or computed by the kubelet.
import type { ResourceList } from "../../shared/api/meta.js";
import type { ClusterAccess } from "../model/cluster-access.js";
import type { NodeFacts } from "./node-runtime.js";

export function nodeAllocatable(
  { allocatable }: Pick<NodeFacts, "allocatable">,
  cluster: ClusterAccess | undefined,
): ResourceList {
  return { ...allocatable, ...cluster?.()?.node()?.status?.allocatable };
}
