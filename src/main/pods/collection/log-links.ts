// Links to container logs (/var/log/containers) that lead nowhere: the logs went with their pod or by hand.
// Invariant: the link of an existing container stays, as its log may be about to be created.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { Loop } from "../../../shared/base/turns/loop.js";
import { entriesOf, leadsNowhere, MOST_NAMES } from "../../../shared/io/fs/untrusted-folder.js";
import { findHangable, readHangable } from "../../../shared/node/volume-calls/may-hang.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

interface LogLinksOptions {
  directory: string;
  /** Ids of the containers that are there and have not exited; undefined: not known yet. */
  livingContainers: () => ReadonlySet<string> | undefined;
  log: Logger;
  /** Links that one round removes at most; the next round finds the rest. */
  most?: number;
}

/** Removes them; returns how many. @internal */
export async function removeDanglingLinks(options: LogLinksOptions): Promise<number> {
  const { directory, livingContainers, log, most = MOST_NAMES } = options;
  const before = livingContainers();
  if (before === undefined) return 0;
  const dangling = await danglingIn(directory, before, most);
  // A container may have been created meanwhile.
  const living = livingContainers();
  let removed = 0;
  for (const [name, id] of dangling) {
    const path = join(directory, name);
    if (living?.has(id) !== false || !(await leadsNowhere(path))) continue;
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

/** Container ids by the names of their links. Costs no system call for the link of a living container. */
async function danglingIn(directory: string, living: ReadonlySet<string>, most: number): Promise<Map<string, string>> {
  const dangling = new Map<string, string>();
  let mounts: Awaited<ReturnType<typeof readHangable>> | undefined;
  try {
    for await (const entry of entriesOf(directory)) {
      const id = entry.isSymbolicLink() ? containerIdOf(entry.name) : undefined;
      if (id === undefined || living.has(id)) continue;
      const link = join(directory, entry.name);
      mounts ??= await readHangable();
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

export function logLinkMetrics(registry: ThreadRegistry): { removed: (count: number) => void } {
  const help = "Number of removed links to container logs without a target";
  const removed = registry.counter("nodelet_log_links_removed_total", help);
  return { removed: (count) => removed.inc(count) };
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
