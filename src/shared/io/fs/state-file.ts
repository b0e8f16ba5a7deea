// Versioned JSON state on disk. A file that cannot be read is set aside under another name with a warning. It never
// stops the kubelet, because runtime, mounts and cgroups are authoritative, not the file. The newest of them are kept.

import { readdir, rename, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../../base/clock/clock.js";
import { errorCode } from "../../base/errors/error-code.js";
import type { Logger } from "../../telemetry/log/logger.js";
import { atomicWrite, type AtomicWriteOptions, isTemporaryName } from "./atomic-write.js";
import { readRegularText } from "./regular-file.js";
import { FileTooLargeError, NotRegularFileError } from "./untrusted-file.js";

/** Between the name of a file that was set aside and the time of that. */
const ASIDE = ".corrupt-";
/** A checkpoint of a hundred thousand devices has 8 MiB. */
export const STATE_LIMIT = 64 * 1024 * 1024;
/** Files that were set aside and stay in one folder: each power loss may add one for each pod. */
const KEPT_ASIDE = 20;

/** Members of every state file besides its own. */
export interface VersionedState {
  version: number;
}

export interface ReadStateOptions {
  clock: Clock;
  log: Logger;
}

/** The content of a state file. */
export function stateText(state: VersionedState): string {
  return `${JSON.stringify(state)}\n`;
}

/** Writes the state whole. Rejects with DiskFullError on a full disk; the old state stays. */
export async function writeState(
  path: string,
  state: VersionedState,
  options: Pick<AtomicWriteOptions, "durable"> = {},
): Promise<void> {
  await atomicWrite(path, stateText(state), options);
}

/**
 * Reads a state file back; `decode` checks version and shape and throws on unknown ones.
 * Undefined when there is none or when it had to be set aside as `<path>.corrupt-<time>`. Other read errors are thrown.
 */
export async function readState<T>(
  path: string,
  decode: (value: unknown) => T,
  { clock, log }: ReadStateOptions,
): Promise<T | undefined> {
  let text: string | undefined;
  let unusable: unknown;
  try {
    text = await readRegularText(path, STATE_LIMIT);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    // A folder in its place would keep every later state from being written.
    if (!(error instanceof NotRegularFileError || error instanceof FileTooLargeError)) throw error;
    unusable = error;
  }
  try {
    if (text === undefined) throw unusable;
    return decode(JSON.parse(text));
  } catch (error) {
    const aside = await setAside(path, clock);
    log.warn(
      { path, aside, err: error },
      `state file ${path} is not usable: set aside as ${aside}, starting without it`,
    );
    return undefined;
  }
}

/** Gives a file that cannot be used another name. @returns its path from now on */
export async function setAside(path: string, clock: Pick<Clock, "now">): Promise<string> {
  const aside = `${path}${ASIDE}${new Date(clock.now()).toISOString().replaceAll(":", "")}`;
  await rename(path, aside);
  return aside;
}

/** The path under which an unusable file was last set aside; undefined: never, or the operator has removed it. */
export async function lastSetAside(path: string): Promise<string | undefined> {
  const names = (await namesIn(dirname(path))).filter((name) => name.startsWith(`${basename(path)}${ASIDE}`));
  const last = names.sort().at(-1);
  return last === undefined ? undefined : join(dirname(path), last);
}

/**
 * Deletes temporary files that a crash left in the folder of `path`, and all but the newest files that were set aside
 * there. Call before the first writeState there.
 */
export async function removeLeftovers(path: string): Promise<void> {
  const folder = dirname(path);
  const names = await namesIn(folder);
  const timeOf = (name: string): string => name.slice(name.lastIndexOf(ASIDE));
  const aside = names
    .filter((name) => name.includes(ASIDE))
    .sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1))
    .slice(0, -KEPT_ASIDE);
  await Promise.all([
    ...names.filter(isTemporaryName).map((name) => unlink(join(folder, name)).catch(() => undefined)),
    // One that cannot be removed now is tried again by the next kubelet.
    ...aside.map((name) => rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined)),
  ]);
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  });
}
