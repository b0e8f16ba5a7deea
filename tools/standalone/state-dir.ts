// One run owns the state folder. A run that was killed leaves processes, mounts and files; the
// next one finds them by the folder's records and starts clean.
// Invariant: a folder that is not ours is never emptied; a live run is never disturbed.

import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cgroupProcesses, removeCgroups } from "./cgroups.js";
import { readRecord, removeInstance } from "./instance.js";
import { unmountBelow } from "./mounts.js";
import { namesIn } from "./names-in.js";
import { errnoOf, messageOf, SetupProblem } from "./problem.js";
import { isAlive, readProcess, signalAndWait, type ProcessIdentity } from "./processes.js";

const RECORD = "standalone.json";
const KILL_TIMEOUT_MS = 15_000;

interface RunRecord {
  version: 1;
  /** The `npm start` that owns the folder. */
  owner: ProcessIdentity;
  /** Its agent, once there is one. */
  kubelet?: ProcessIdentity;
  /** Parent cgroup of the pods when the runtime is not ours. */
  cgroup?: string;
}

export interface StateDir {
  readonly path: string;
  /** Where the private containerd lives. */
  readonly containerd: string;
  /** Writes down what must be ended if we cannot do it ourselves. */
  remember(what: { kubelet?: ProcessIdentity; cgroup?: string }): Promise<void>;
  /** Removes the folder and everything mounted in it. */
  remove(): Promise<void>;
}

/** Takes the folder. Throws SetupProblem when another run has it or it holds foreign files. */
export async function claimStateDir(path: string, say: (line: string) => void): Promise<StateDir> {
  const names = await namesIn(path).catch((error: unknown) => {
    if (errnoOf(error) !== "ENOTDIR") throw error;
    throw new SetupProblem(`${path} is no folder: choose another --state-dir`);
  });
  const old = await readRun(path);
  if (old !== undefined) {
    if (await isAlive(old.owner)) {
      throw new SetupProblem(
        `${path} is in use by a run with pid ${old.owner.pid}: stop it, or choose another --state-dir`,
      );
    }
    say(`An earlier run in ${path} ended without cleaning up: removing what it left`);
    await removeLeftovers(path, old);
  } else if (names.length > 0) {
    throw new SetupProblem(`${path} holds files that are not ours: choose another --state-dir`);
  }
  await makeFolder(path);
  const self = await readProcess(process.pid);
  let record: RunRecord = { version: 1, owner: { pid: process.pid, startTicks: self?.startTicks ?? 0 } };
  await writeRun(path, record);
  return {
    path,
    containerd: join(path, "containerd"),
    remember: async (what) => {
      record = { ...record, ...what };
      await writeRun(path, record);
    },
    remove: () => removeLeftovers(path, record),
  };
}

/** Node's own recursive mkdir never ends below /proc, where no folder can be made and the kernel says ENOENT. */
async function makeFolder(path: string): Promise<void> {
  try {
    await makeBelow(path);
  } catch (error) {
    throw new SetupProblem(`cannot make ${path}: ${messageOf(error)}; choose another --state-dir`);
  }
}

async function makeBelow(path: string): Promise<void> {
  const make = (): Promise<void> => mkdir(path, { mode: 0o711 });
  try {
    await make();
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return;
    if (errnoOf(error) !== "ENOENT") throw error;
    await makeBelow(dirname(path));
    await make();
  }
}

/** Ends the processes and removes the files that a run in `path` left. */
async function removeLeftovers(path: string, record: RunRecord): Promise<void> {
  if (record.kubelet !== undefined) await signalAndWait([record.kubelet], "SIGKILL", KILL_TIMEOUT_MS);
  const instance = await readRecord(join(path, "containerd"));
  if (instance !== undefined) await removeInstance(instance);
  if (record.cgroup !== undefined) {
    const pids = await cgroupProcesses(record.cgroup);
    if (pids.size > 0)
      throw new SetupProblem(`pods of an earlier run still live in cgroup ${record.cgroup}: remove them first`);
    await removeCgroups(record.cgroup);
  }
  await unmountBelow(path);
  await rm(path, { recursive: true, force: true });
}

async function readRun(path: string): Promise<RunRecord | undefined> {
  try {
    return JSON.parse(await readFile(join(path, RECORD), "utf8")) as RunRecord;
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function writeRun(path: string, record: RunRecord): Promise<void> {
  const file = join(path, RECORD);
  await writeFile(`${file}.new`, JSON.stringify(record));
  await rename(`${file}.new`, file);
}
