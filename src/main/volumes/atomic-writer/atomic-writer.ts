// Replaces the files of a volume in one step, for containers that read them meanwhile:
//
//   volume/key                        -> ..data/key            links that users see
//   volume/..data                     -> ..2026_11_21_15_04_05.1234
//   volume/..2026_11_21_15_04_05.1234/key                      the files
//
// New files go into a new directory, and a rename puts ..data on it. Invariant: at every instruction ..data leads to
// all old or all new files; unchanged content changes no file. The next write after a crash removes its leftovers and
// creates its missing links.

import { randomInt } from "node:crypto";
import { chmod, lstat, mkdir, open, readFile, readdir, readlink, rename, rm, symlink, unlink } from "node:fs/promises";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { DiskFullError } from "../../../shared/io/fs/atomic-write.js";
import { namesIn } from "../paths.js";
import { checkPayload, visibleNames, type Payload, type PayloadFile } from "./payload.js";
import { keptByUmask } from "./umask.js";

const DATA = "..data";
const NEW_DATA = "..data_tmp";
const DIRECTORY_MODE = 0o755;
/** Tells chown(2) to keep the owner. */
const UNCHANGED = 2 ** 32 - 1;
const NO_SPACE = new Set(["ENOSPC", "EDQUOT"]);

/** In order. Each is named when it is done; tests end the writer there. @internal */
export const WRITE_STEPS = ["directory", "files", "ownership", "link", "swap", "visible", "tidy"] as const;
type WriteStep = (typeof WRITE_STEPS)[number];

export interface AtomicWriteDeps {
  clock: Pick<Clock, "now">;
  /** True for a volume's directory that was just created: it is empty, and no process reads it. */
  fresh?: boolean;
  /** Called with the directory of the new files before they become visible, to set their ownership. */
  beforeVisible?(directory: string): Promise<void>;
  onStep?(step: WriteStep): Promise<void> | void;
}

/**
 * Makes the payload the content of the volume's directory, which is there. Resolves to whether anything had changed.
 * @throws VolumeError, DiskFullError: the old content is still there
 */
export async function writePayload(volume: string, payload: Payload, deps: AtomicWriteDeps): Promise<boolean> {
  checkPayload(payload);
  const current = deps.fresh === true ? undefined : await linkTarget(`${volume}/${DATA}`);
  const changed = current === undefined || !(await holds(`${volume}/${current}`, payload));
  // The first write finds nothing to make up for, and leaves nothing behind.
  const fresh = current === undefined && (deps.fresh === true || (await namesIn(volume)).length === 0);
  const directory = changed ? await replace(volume, payload, deps, fresh) : current;
  await showLinks(volume, payload, fresh);
  await deps.onStep?.("visible");
  if (!fresh) await removeLeftovers(volume, directory, payload);
  await deps.onStep?.("tidy");
  return changed;
}

/** Resolves to the name of the new directory. */
async function replace(volume: string, payload: Payload, deps: AtomicWriteDeps, fresh: boolean): Promise<string> {
  const name = directoryName(new Date(deps.clock.now()));
  const directory = `${volume}/${name}`;
  try {
    await makeDirectory(directory);
    await deps.onStep?.("directory");
    for (const [path, file] of payload) await writeFile(directory, path, file);
    await deps.onStep?.("files");
    await deps.beforeVisible?.(directory);
    await deps.onStep?.("ownership");
    if (fresh) await symlink(name, `${volume}/${DATA}`);
    else await swap(volume, name, deps);
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw NO_SPACE.has(errorCode(error) ?? "") ? new DiskFullError(volume, error) : error;
  }
  await deps.onStep?.("swap");
  return name;
}

async function swap(volume: string, name: string, deps: AtomicWriteDeps): Promise<void> {
  await rm(`${volume}/${NEW_DATA}`, { force: true });
  await symlink(name, `${volume}/${NEW_DATA}`);
  await deps.onStep?.("link");
  await rename(`${volume}/${NEW_DATA}`, `${volume}/${DATA}`);
}

async function writeFile(directory: string, path: string, { data, mode, user }: PayloadFile): Promise<void> {
  const parents = path.split("/").slice(0, -1);
  for (let length = 1; length <= parents.length; length++) {
    await makeDirectory(`${directory}/${parents.slice(0, length).join("/")}`);
  }
  const kept = await keptByUmask(mode);
  const file = await open(`${directory}/${path}`, "wx", kept ? mode : 0o600);
  try {
    await file.writeFile(data);
    // Another owner takes setuid and setgid bits away.
    if (user !== undefined) await file.chown(user, UNCHANGED);
    if (!kept || user !== undefined) await file.chmod(mode);
  } finally {
    await file.close();
  }
}

/** With its mode under any umask; an existing one is kept. */
async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: DIRECTORY_MODE });
    if (!(await keptByUmask(DIRECTORY_MODE))) await chmod(directory, DIRECTORY_MODE);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

/** Modes are not compared: fsGroup changed them. */
async function holds(directory: string, payload: Payload): Promise<boolean> {
  const files = await filesIn(directory, "");
  if (files.length !== payload.size) return false;
  for (const path of files) {
    const wanted = payload.get(path);
    if (wanted === undefined || !(await readFile(`${directory}/${path}`)).equals(Buffer.from(wanted.data)))
      return false;
  }
  return true;
}

async function filesIn(directory: string, below: string): Promise<string[]> {
  const found: string[] = [];
  let entries;
  try {
    entries = await readdir(`${directory}/${below}`, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
  for (const entry of entries) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await filesIn(directory, path)));
    else found.push(path);
  }
  return found;
}

async function showLinks(volume: string, payload: Payload, fresh: boolean): Promise<void> {
  for (const name of visibleNames(payload.keys())) {
    const link = `${volume}/${name}`;
    const target = `${DATA}/${name}`;
    if (!fresh) {
      if ((await linkTarget(link)) === target) continue;
      await rm(link, { recursive: true, force: true });
    }
    await symlink(target, link);
  }
}

/** Removes links without a target, and directories of earlier writes, complete or not. */
async function removeLeftovers(volume: string, current: string, payload: Payload): Promise<void> {
  const wanted = visibleNames(payload.keys());
  for (const name of await namesIn(volume)) {
    const place = `${volume}/${name}`;
    if (name.startsWith("..")) {
      if (name !== DATA && name !== current) await rm(place, { recursive: true, force: true });
    } else if (!wanted.has(name) && (await linkTarget(place)) === `${DATA}/${name}`) {
      await unlink(place);
    }
  }
}

/** undefined if the path does not exist or is not a link. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function directoryName(now: Date): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-T:]/g, "_");
  return `..${stamp}.${randomInt(1_000_000_000, 2 ** 32)}`;
}
