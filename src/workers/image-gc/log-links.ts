// Links to container logs (/var/log/containers) that lead nowhere: the logs went with their pod or by hand.
// Invariant: the link of an existing container stays, as its log may be about to be created.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../shared/base/clock/clock.js";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { Loop } from "../../shared/base/turns/loop.js";
import { entriesOf, leadsNowhere, MOST_NAMES } from "../../shared/io/fs/untrusted-folder.js";
import { findHangable, readHangable } from "../../shared/node/volume-calls/may-hang.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";

interface LogLinksOptions {
  directory: string;
  /** Which of the containers are there and have not exited; undefined: not known yet. */
  containersAlive: (ids: string[]) => Promise<string[] | undefined>;
  log: Logger;
  /** Links that one round removes at most; the next round finds the rest. */
  most?: number;
}

/** Removes them; returns how many. @internal */
export async function removeDanglingLinks(options: LogLinksOptions): Promise<number> {
  const { directory, containersAlive, log, most = MOST_NAMES } = options;
  const dangling = await danglingIn(directory, most);
  if (dangling.size === 0) return 0;
  const alive = await containersAlive([...new Set(dangling.values())]);
  if (alive === undefined) return 0;
  let removed = 0;
  for (const [name, id] of dangling) {
    const path = join(directory, name);
    if (alive.includes(id) || !(await leadsNowhere(path))) continue;
    await rm(path, { force: true });
    log.info({ link: path }, `removed dead log symlink ${path}`);
    removed++;
  }
  return removed;
}

/** "POD_NAMESPACE_CONTAINER-ID.log" @internal */
export function containerIdOf(linkName: string): string | undefined {
  return /^[^_]+_[^_]+_.+-([0-9a-f]{64})\.log$/.exec(linkName)?.[1];
}

/** Container ids by the names of their links. */
async function danglingIn(directory: string, most: number): Promise<Map<string, string>> {
  const dangling = new Map<string, string>();
  const mounts = await readHangable();
  try {
    for await (const entry of entriesOf(directory)) {
      const id = entry.isSymbolicLink() ? containerIdOf(entry.name) : undefined;
      if (id === undefined) continue;
      const link = join(directory, entry.name);
      // One that was planted may lead to a mount that does not respond.
      if ((await findHangable(link, { mounts })) !== undefined || !(await leadsNowhere(link))) continue;
      dangling.set(entry.name, id);
      if (dangling.size === most) break;
    }
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
  return dangling;
}

interface LinkLoopOptions extends LogLinksOptions {
  periodMs: number;
  clock: Clock;
  removed(count: number): void;
}

/** Removes dangling links periodically. */
export function linkLoop(options: LinkLoopOptions): Loop {
  const { clock, periodMs, log } = options;
  return new Loop({
    clock,
    periodMs,
    round: async () => {
      options.removed(await removeDanglingLinks(options));
      return periodMs;
    },
    failed: (error) => {
      log.warn({ err: error }, "cannot remove dead log symlinks; the next round tries again");
      return periodMs;
    },
  });
}
