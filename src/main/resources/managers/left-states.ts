// What managers of another policy have left on disk when this policy has none: the kubelet must not pass it over.
// Invariant: a node that never had one pays a look for a file.
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../shared/clock/clock.js";
import type { Logger } from "../../../shared/log/logger.js";

interface LeftStateSettings {
  rootDir: string;
  cpuManagerPolicy: "none" | "static";
  memoryManagerPolicy: "None" | "Static";
}

/** Rejects with what the policy's own part says of a state that is not its own. */
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
