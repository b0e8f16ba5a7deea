// Rotation takes no line but those of the oldest file, when there are too many. All others are in the files, whole and
// in their order, as long as their container is there.

import { kernel } from "../kernel/kernel.js";
import { linesOnDisk, logFilesOf } from "../world/log-files.js";
import type { LogRun } from "../world/log-run.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

export const logLinesSurvive: Invariant = {
  name: "lines of logs survive their rotation",
  promisedBy: "docs/adr/0018-container-logs.md",
  watch(world, broken) {
    const { logs, node } = world;
    if (logs === undefined || node.logs === undefined) return undefined;
    const { files } = node.logs;
    logs.onRemoved.add((run, name) => checkRemoval(run, name, files, broken));
    return () => {
      for (const run of logs.known()) if (isKept(world, run)) checkLines(run, broken);
    };
  },
};

function checkRemoval(run: LogRun, name: string, files: number, broken: Broken): void {
  if (run.isTorn) return;
  const { first, problem } = linesOnDisk(run);
  const hasEnded = run.endedAt !== undefined;
  if (problem !== undefined && !hasEnded)
    broken(`after the removal of ${name} of ${run.container}: ${problem}`, run.pod);
  // Before the next line is there, no file may have one.
  const now = first === 0 ? run.lines.length + 1 : first;
  if (now <= run.keptFrom) return;
  const left = logFilesOf(run).length;
  // The next one is made after the rename. An ended container goes with its logs.
  if (left < files - 1 && hasEnded) return;
  if (left < files - 1)
    broken(
      `${name} of ${run.container} is removed with lines ${run.keptFrom} to ${now - 1}, and ${left} are left`,
      run.pod,
    );
  run.keptFrom = now;
}

/** A pod that ends, or that was evicted, may have lost its logs. */
function isKept({ facts }: World, { pod, isTorn, inode }: LogRun): boolean {
  const known = facts.pods.get(pod);
  return known !== undefined && known.deletedAt === undefined && !isTorn && inode !== undefined;
}

function checkLines(run: LogRun, broken: Broken): void {
  const written = run.lastAt(kernel.monotonic);
  const { first, last, problem } = linesOnDisk(run);
  if (problem !== undefined) broken(`the log of ${run.container}: ${problem}`, run.pod);
  else if (first > run.keptFrom || last < written)
    broken(
      `the log of ${run.container}, attempt ${run.attempt}, has lines ${first} to ${last}, not ${run.keptFrom} to ${written}`,
      run.pod,
    );
}
