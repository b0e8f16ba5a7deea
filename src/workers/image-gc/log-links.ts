// Links to container logs (/var/log/containers) that lead nowhere: the logs went with their pod or by hand.
// Invariant: the link of a container that lives stays, as its log may be about to be made.
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../shared/log/logger.js";

export interface LogLinksOptions {
  directory: string;
  /** Which of the containers are there and have not exited; undefined: not known yet. */
  containersAlive: (ids: string[]) => Promise<string[] | undefined>;
  log: Logger;
}

/** Removes them; returns how many. */
export async function removeDanglingLinks({ directory, containersAlive, log }: LogLinksOptions): Promise<number> {
  const dangling = new Map<string, string>();
  for (const name of await linksIn(directory)) {
    const id = containerIdOf(name);
    if (id !== undefined && (await leadsNowhere(join(directory, name)))) dangling.set(name, id);
  }
  if (dangling.size === 0) return 0;
  const alive = await containersAlive([...new Set(dangling.values())]);
  if (alive === undefined) return 0;
  let removed = 0;
  for (const [name, id] of dangling) {
    const path = join(directory, name);
    if (alive.includes(id) || !(await leadsNowhere(path))) continue;
    await rm(path, { force: true });
    log.info({ link: path }, `the log link ${path} led nowhere and was removed`);
    removed++;
  }
  return removed;
}

/** "POD_NAMESPACE_CONTAINER-ID.log" */
export function containerIdOf(linkName: string): string | undefined {
  return /^[^_]+_[^_]+_.+-([0-9a-f]{64})\.log$/.exec(linkName)?.[1];
}

async function linksIn(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

async function leadsNowhere(link: string): Promise<boolean> {
  try {
    await stat(link);
    return false;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return true;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
