// Why this test run has no privileged containers: the Docker Engine requests all capabilities of the kernel, even those
// that the node lacks.

import { readFile } from "node:fs/promises";
import { RUNTIME_NAME } from "../harness/node.js";

/** undefined: it has them. */
export async function privilegedProblem(): Promise<string | undefined> {
  if (RUNTIME_NAME !== "docker") return undefined;
  const last = Number(await readFile("/proc/sys/kernel/cap_last_cap", "utf8"));
  const bounding = /^CapBnd:\s*(\w+)$/m.exec(await readFile("/proc/self/status", "utf8"))?.[1] ?? "0";
  if (BigInt(`0x${bounding}`) === (1n << BigInt(last + 1)) - 1n) return undefined;
  return "this node lacks capabilities: the Docker Engine runs no privileged container on it";
}
