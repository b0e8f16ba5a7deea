// A follower of a container's log has each line soon after it was written, and ends after the end of the container,
// with its last line.

import { kernel } from "../kernel/kernel.js";
import type { LogReaders, Reading } from "../world/log-readers.js";
import type { World } from "../world/world.js";
import { isCalm } from "./calm.js";
import type { Broken, Invariant } from "./invariant.js";
import { gotBy } from "./reader-lines.js";

const CALM_MS = 60_000;
const EVERY_MS = 5000;
/** Two seconds at the end of a file whose writer has not closed it, and a look each second without inotify. */
const SEEN_MS = 4500;
/** An end is observed within a second and shown to the port's thread soon. */
const ENDED_MS = 15_000;

export const followersKeepUp: Invariant = {
  name: "followers of logs keep up, and end",
  promisedBy: "docs/adr/0018-container-logs.md",
  watch(world, broken) {
    const { readers } = world;
    if (readers === undefined) return undefined;
    const look = (): void => {
      for (const reading of readers.open) if (isFollower(reading)) checkOpen(world, readers, reading, broken);
      kernel.after(kernel.world, EVERY_MS, look);
    };
    kernel.after(kernel.world, EVERY_MS, look);
    readers.onEnd.add((reading) => {
      if (isFollower(reading) && reading.isWhole && reading.status === 200) checkEnd(readers, reading, broken);
    });
    return undefined;
  },
};

function isFollower({ query, paceMs, status }: Reading): boolean {
  return query.follow === true && query.previous !== true && paceMs === undefined && status === 200;
}

function checkOpen(world: World, readers: LogReaders, reading: Reading, broken: Broken): void {
  const { run, beganAt } = reading;
  const now = kernel.monotonic;
  if (!isCalm(world, CALM_MS) || now - beganAt < SEEN_MS || run.isTorn) return;
  if (run.endedAt !== undefined && now - run.endedAt > ENDED_MS)
    broken(`a follower of ${run.container} goes on ${now - run.endedAt} ms after its end`, run.pod);
  const got = gotBy(reading, readers.runsOf(run), true);
  // Those that are wrong, and gaps, are reported at the end.
  if (typeof got === "string" || (got !== undefined && got.run !== run)) return;
  const written = run.lastAt(now - SEEN_MS);
  const begun = run.lastAt(beganAt);
  if (written > Math.max(begun, got?.last ?? 0))
    broken(`a follower of ${run.container} has line ${got?.last ?? 0}, and ${written} is there`, run.pod);
}

function checkEnd(readers: LogReaders, reading: Reading, broken: Broken): void {
  const { run } = reading;
  const got = gotBy(reading, readers.runsOf(run), true);
  const followed = typeof got === "object" ? got.run : run;
  if (followed.isTorn) return;
  if (followed.endedAt === undefined) {
    broken(`a follower of ${run.container} ends before it`, run.pod);
    return;
  }
  if (typeof got === "object" && got.last !== followed.lines.length)
    broken(`a follower of ${run.container} ends with line ${got.last} of ${followed.lines.length}`, run.pod);
}
