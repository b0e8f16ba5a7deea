// What pods may use of this node, as the downward API shows it: as the node's object says, or what the machine has.
import type { ResourceList } from "../../shared/api/meta.js";
import type { ClusterAccess } from "../cluster/port.js";
import type { NodeFacts } from "./node-runtime.js";

export function nodeAllocatable(
  { cpuCount, memoryBytes }: Pick<NodeFacts, "cpuCount" | "memoryBytes">,
  cluster: ClusterAccess | undefined,
): ResourceList {
  const machine = { cpu: String(cpuCount), memory: String(memoryBytes) };
  return { ...machine, ...cluster?.()?.node()?.status?.allocatable };
}
