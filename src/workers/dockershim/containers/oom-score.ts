// The OOM score of containers where no process may lower its own, for example on a node in a container. The kernel
// would refuse the start of a container with a lower score. containerd has the setting restrict_oom_score_adj for this.

import { readText } from "../read-text.js";

const CAP_SYS_RESOURCE = 24n;
const MAX_BYTES = 64 * 1024;
const LOWEST = -1000;

/** The lowest value that this process, and with it the Engine, may set. */
export async function lowestOomScoreAdj(): Promise<number> {
  const status = await readText("/proc/self/status", MAX_BYTES);
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
  if ((effective >> CAP_SYS_RESOURCE) % 2n === 1n) return LOWEST;
  return Number((await readText("/proc/self/oom_score_adj", MAX_BYTES)).trim());
}
