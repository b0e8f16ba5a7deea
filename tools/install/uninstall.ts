// Removes what install put in place. Invariant: containers are not touched; files that are not on record stay;
// the configuration and the agent's state go only when asked (purge), and state never while something is mounted in it.

import { readdir, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { run } from "../standalone/exec.js";
import { errnoOf, SetupProblem } from "../standalone/problem.js";
import { layoutOf, STATE, STATE_ROOT, type Layout } from "./layout.js";
import type { InstallerOptions } from "./options.js";
import { REMOVE_NETWORK, RUNNING_PODS } from "./purge-guards.js";
import { readRecord } from "./record.js";
import { forgetUnit, stopEmptySlice, stopUnit } from "./systemd.js";

const CGROUP_ROOT = "/sys/fs/cgroup";
/** The top of the pods' cgroups under either driver. */
const POD_SLICE = "kubepods.slice";
const POD_CGROUPS = ["kubepods", POD_SLICE];
/** A runtime that hangs is asked for so long at most. */
const PODS_MS = 120_000;

export async function uninstall(options: InstallerOptions, say: (line: string) => void): Promise<void> {
  const layout = layoutOf(options);
  const record = await readRecord(layout.at(layout.record));
  const live = options.destdir === "";
  if (record === undefined) {
    say(`nothing of nodelet below ${layout.at(options.prefix)}`);
  } else {
    if (live) await stopUnit();
    for (const path of record.files) await rm(layout.at(path), { force: true });
    await rm(layout.at(layout.home), { recursive: true, force: true });
    if (live) await forgetUnit();
    say(`removed ${layout.at(layout.executable)}, ${layout.at(layout.unit)}, ${layout.at(layout.home)}`);
  }
  if (options.purge) await purge(layout, live);
  else say(`kept: ${layout.at(layout.config)} and the state in ${layout.at(STATE_ROOT)}; PURGE=1 removes them too`);
  for (const folder of [...(record?.folders ?? [])].reverse()) await removeEmpty(layout.at(folder));
}

async function purge(layout: Layout, live: boolean): Promise<void> {
  await rm(layout.at(layout.config), { force: true });
  await removeEmpty(layout.at(dirname(layout.config)));
  if (live) {
    const mounts = await mountsBelow(STATE_ROOT);
    if (mounts.length > 0) {
      const example = mounts[0] ?? "";
      throw new SetupProblem(
        `state in ${STATE_ROOT} is kept, because pods still use it (${mounts.length} mounts, for example ${example}): stop these pods and repeat`,
      );
    }
    const pods = (await run("sh", ["-c", `${RUNNING_PODS}running_pods`], { timeoutMs: PODS_MS })).trim().split("\n");
    if (pods[0] !== "") {
      const names = pods.slice(0, 5).join(" ");
      throw new SetupProblem(
        `state in ${STATE_ROOT} is kept, because pods still run: ${names}: stop these pods and repeat`,
      );
    }
    await run("sh", ["-c", `${REMOVE_NETWORK}remove_network`]);
    await removePodCgroups();
    await removeOwnMount(STATE_ROOT);
  }
  for (const path of STATE) await rm(layout.at(path), { recursive: true, force: true });
  await removeEmpty(layout.at(STATE_ROOT));
}

/** Where / is not a shared mount, the kubelet mounts its root directory on itself. A disk of the operator's stays. */
async function removeOwnMount(folder: string): Promise<void> {
  const lines = (await readFile("/proc/self/mountinfo", "utf8")).split("\n").map((line) => line.split(" "));
  const isBound = lines.some(([, , , root, mountPoint]) => mountPoint === folder && root !== "/");
  if (isBound) await run("umount", ["--", folder]);
}

async function mountsBelow(folder: string): Promise<string[]> {
  const lines = (await readFile("/proc/self/mountinfo", "utf8")).split("\n");
  return lines.map((line) => line.split(" ")[4] ?? "").filter((path) => path.startsWith(`${folder}/`));
}

/** Empty ones only: the kernel keeps those in use. On cgroup v1 each controller has a tree of its own. */
async function removePodCgroups(): Promise<void> {
  await stopEmptySlice(POD_SLICE);
  const trees = [CGROUP_ROOT, ...(await foldersIn(CGROUP_ROOT))];
  for (const tree of trees) for (const name of POD_CGROUPS) await removeEmptyTree(join(tree, name));
}

async function removeEmptyTree(folder: string): Promise<void> {
  for (const child of await foldersIn(folder)) await removeEmptyTree(child);
  await removeEmpty(folder);
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** Leaves a folder that others use. */
async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!["ENOENT", "ENOTEMPTY", "EBUSY", "EEXIST"].includes(errnoOf(error) ?? "")) throw error;
  }
}
