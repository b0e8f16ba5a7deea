// Tests and benchmarks may be killed at any moment. Each run has a folder with a record of its owner and its network
// namespaces, and marks its processes by an environment variable. The next run removes what runs without a living owner
// have left.
// Invariant: a namespace is in the record before it is made; only what a record, a mark or the run's folder names is
// removed.

import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { removeCgroups } from "./cgroups.js";
import { removeInstancesBelow } from "./instance.js";
import { detachLoopDevicesOf } from "./loop-devices.js";
import { unmountBelow } from "./mounts.js";
import { createNetns, deleteNetns } from "./netns.js";
import { errnoOf, SetupProblem } from "./problem.js";
import { isAlive, listProcesses, readProcess, signalAndWait, type ProcessIdentity } from "./processes.js";

/** Environment variable of every process of a run; its value is the run's folder. */
const RUN_MARK = "NODELET_RUN_DIR";

/** Folder of a run with one empty file for each recorded cgroup. */
const CGROUPS = "cgroups";
const KILL_TIMEOUT_MS = 15_000;
/** Folders between that of a run and that of a runtime: the lane, a small disk, the node. */
const DEPTH = 4;
/** `owner-<pid>-<start in clock ticks>.json` */
const OWNER_FILE = /^owner-(\d+)-(\d+)\.json$/;

interface RunRecord {
  version: 1;
  /** Network namespaces, each with the folder of the runtime inside. */
  places: { netns: string; dir: string }[];
  /** Folders elsewhere. */
  folders: string[];
}

export interface Run {
  /** Everything of the run is below it; root of a user namespace may pass through it. */
  readonly dir: string;
  /** Makes a network namespace and a folder for a runtime in it. */
  place(name: string): Promise<{ netns: string; dir: string }>;
  /** Makes a folder of the run in `parent`, for example on a file system in memory. */
  folder(parent: string): Promise<string>;
  /** Ends every process of the run, this one aside, and removes all that it made. */
  remove(): Promise<void>;
}

/**
 * Opens a run after the removal of what dead ones left; `say` gets a line for each of those. From then on the children
 * of this process have the run's mark.
 * @throws SetupProblem
 */
export async function openRun(say: (line: string) => void, base = join(tmpdir(), "nodelet-runs")): Promise<Run> {
  await claimBase(base);
  await removeDeadRuns(base, say);
  const dir = await mkdtemp(join(base, "r"));
  await chmod(dir, 0o711);
  const self = await ownIdentity();
  const owner = join(dir, ownerFile(self));
  const record: RunRecord = { version: 1, places: [], folders: [] };
  let saved: Promise<void> = Promise.resolve();
  // One after the other: lanes open side by side.
  const save = (): Promise<void> =>
    (saved = saved.then(async () => {
      await writeFile(`${owner}.new`, JSON.stringify(record));
      await rename(`${owner}.new`, owner);
    }));
  await save();
  process.env[RUN_MARK] = dir;
  return {
    dir,
    place: async (name) => {
      const place = { netns: `nodelet-${basename(dir)}-${name}`, dir: join(dir, name) };
      record.places.push(place);
      await save();
      await mkdir(place.dir, { mode: 0o711 });
      await createNetns(place.netns);
      return place;
    },
    folder: async (parent) => {
      const folder = join(parent, `nodelet-${basename(dir)}`);
      record.folders.push(folder);
      await save();
      await mkdir(folder, { mode: 0o711 });
      return folder;
    },
    remove: () => removeRun(dir, record),
  };
}

/**
 * Records a cgroup that this process will make beside those of private runtimes: its path from the root of each tree.
 * Does nothing outside a run.
 */
export async function recordCgroup(path: string): Promise<void> {
  const dir = process.env[RUN_MARK];
  if (dir === undefined) return;
  await mkdir(join(dir, CGROUPS), { recursive: true });
  await writeFile(join(dir, CGROUPS, encodeURIComponent(path)), "");
}

/** The folder of all runs belongs to this user alone: others could plant records in it. */
async function claimBase(base: string): Promise<void> {
  await mkdir(base, { mode: 0o711 }).catch((error: unknown) => {
    if (errnoOf(error) !== "EEXIST") throw error;
  });
  const found = await lstat(base);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new SetupProblem(`${base} is not a folder of this user alone: remove it, or set TMPDIR to another folder`);
  }
}

async function removeDeadRuns(base: string, say: (line: string) => void): Promise<void> {
  const self = await ownIdentity();
  for (const name of await readdir(base)) {
    const dir = join(base, name);
    const owner = await ownerOf(dir);
    if (owner === undefined || (await isAlive(owner))) continue;
    const taken = join(dir, ownerFile(self));
    try {
      // Only one of several runs that start at once can rename it.
      await rename(join(dir, ownerFile(owner)), taken);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") continue;
      throw error;
    }
    say(`a run with pid ${owner.pid} ended without cleaning up: removing what it left in ${dir}`);
    await removeRun(dir, await readRecord(taken));
  }
}

async function ownerOf(dir: string): Promise<ProcessIdentity | undefined> {
  const names = await namesIn(dir);
  const [, pid, startTicks] = names.map((name) => OWNER_FILE.exec(name)).find((match) => match !== null) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), startTicks: Number(startTicks) };
}

async function namesIn(dir: string): Promise<string[]> {
  return readdir(dir).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return [];
    throw error;
  });
}

async function readRecord(path: string): Promise<RunRecord> {
  const record = JSON.parse(await readFile(path, "utf8")) as Partial<RunRecord>;
  return { version: 1, places: record.places ?? [], folders: record.folders ?? [] };
}

async function removeRun(dir: string, { places, folders }: RunRecord): Promise<void> {
  // Twice at most: a process may have started another one while the list was read.
  for (let round = 0; round < 2; round++) {
    const left = await processesOfRun(dir);
    if (left.length === 0) break;
    await signalAndWait(left, "SIGKILL", KILL_TIMEOUT_MS);
  }
  for (const place of places) await removeInstancesBelow(place.dir, place.netns, DEPTH);
  await removeInstancesBelow(dir);
  for (const folder of folders) await removeInstancesBelow(folder, undefined, DEPTH);
  for (const folder of [dir, ...folders]) {
    await unmountBelow(folder);
    await detachLoopDevicesOf(folder);
  }
  for (const name of await namesIn(join(dir, CGROUPS))) await removeCgroups(decodeURIComponent(name));
  for (const { netns } of places) await deleteNetns(netns);
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
  // Last: its record has all the others.
  await rm(dir, { recursive: true, force: true });
}

/** Processes whose environment has the run's mark, this one aside. */
export async function processesOfRun(dir: string): Promise<ProcessIdentity[]> {
  const mark = `${RUN_MARK}=${dir}`;
  const all = (await listProcesses()).filter(({ pid }) => pid !== process.pid);
  const marks = await Promise.all(all.map(async ({ pid }) => (await environmentOf(pid)).split("\0").includes(mark)));
  return all.filter((_, index) => marks[index] === true);
}

async function environmentOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/environ`, "utf8").catch((error: unknown) => {
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(errnoOf(error) ?? "")) return "";
    throw error;
  });
}

async function ownIdentity(): Promise<ProcessIdentity> {
  const self = await readProcess(process.pid);
  return { pid: process.pid, startTicks: self?.startTicks ?? 0 };
}

function ownerFile({ pid, startTicks }: ProcessIdentity): string {
  return `owner-${pid}-${startTicks}.json`;
}
