// State files of managers with another policy, when this policy has none: the kubelet must not ignore them.
// Invariant: a node without such a file pays one access(2) call.

import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

interface LeftStateSettings {
  rootDir: string;
  cpuManagerPolicy: "none" | "static";
  memoryManagerPolicy: "None" | "Static";
}

/** Rejects with the policy's own error about a foreign state. */
export async function checkLeftStates(settings: LeftStateSettings, clock: Clock, log: Logger): Promise<void> {
  const { rootDir, cpuManagerPolicy, memoryManagerPolicy } = settings;
  const [cpus, memory] = await Promise.all([
    cpuManagerPolicy === "none" && isThere(join(rootDir, "cpu_manager_state")),
    memoryManagerPolicy === "None" && isThere(join(rootDir, "memory_manager_state")),
  ]);
  if (cpus) {
    const { checkNoCpuPolicy } = await import("../cpu-manager/none-policy.js");
    await checkNoCpuPolicy(rootDir, clock, log);
  }
  if (memory) {
    const { checkNoMemoryPolicy } = await import("../memory-manager/none-policy.js");
    await checkNoMemoryPolicy(rootDir, clock, log);
  }
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
