// The machine's NUMA nodes, as the kernel numbers them.
import { readFile } from "node:fs/promises";
import { parseCpuList } from "../../../shared/api/cpu-list.js";

/** A kernel that knows of none has one. */
export async function numaNodes(file = "/sys/devices/system/node/online"): Promise<readonly number[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  const nodes = parseCpuList(text.trim()) ?? [];
  return nodes.length === 0 ? [0] : nodes;
}
