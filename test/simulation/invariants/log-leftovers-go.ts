// What a killed kubelet has left of a compression goes with the next rotation of that log, and the files of a log go
// with their container.

import { kernel } from "../kernel/kernel.js";
import { folderOf } from "../world/container-logs.js";
import { logFilesOf } from "../world/log-files.js";
import type { LogRun } from "../world/log-run.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

/** A rotation after this time without faults has removed older leftovers. */
const CALM_MS = 120_000;

export const logLeftoversGo: Invariant = {
  name: "leftovers of logs go",
  promisedBy: "docs/adr/0018-container-logs.md",
  watch(world, broken) {
    const { logs } = world;
    if (logs === undefined) return undefined;
    /** Steady moment of the last rotation, by container. */
    const rotatedAt = new Map<string, number>();
    logs.onReopened.add(({ id }) => rotatedAt.set(id, kernel.monotonic));
    return () => {
      const { lastFaultAt } = world.facts;
      for (const run of logs.known()) {
        if (run.endedAt === undefined && (rotatedAt.get(run.id) ?? 0) > lastFaultAt + CALM_MS) checkStrays(run, broken);
        checkAttempts(world, run, broken);
      }
    };
  },
};

function checkStrays(run: LogRun, broken: Broken): void {
  const own = new Set(logFilesOf(run).map(({ name }) => name));
  for (const name of folderOf(run)?.entries.keys() ?? [])
    if (name.startsWith(`${run.attempt}.log.`) && !own.has(name))
      broken(`${name} of ${run.container} is left`, run.pod);
}

function checkAttempts({ logs, facts }: World, run: LogRun, broken: Broken): void {
  const pod = facts.pods.get(run.pod);
  // The runtime has lost containers, and told nothing of their logs.
  if (pod === undefined || pod.deletedAt !== undefined || pod.disturbedAt !== undefined || run.isTorn) return;
  // Names that were removed may be there again after a loss of power.
  if (pod.forgottenAt !== undefined || facts.lastRebootAt > pod.createdAt) return;
  const same = logs?.known().filter(({ folder }) => folder === run.folder) ?? [];
  const attempts = new Set(same.map(({ attempt }) => String(attempt)));
  for (const name of folderOf(run)?.entries.keys() ?? []) {
    const attempt = name.slice(0, name.indexOf("."));
    if (!attempts.has(attempt)) broken(`${name} of ${run.container} is left, and its container is gone`, run.pod);
  }
}
