// A private containerd may be killed together with its owner. The next run reads the instance's record from disk and
// kills, unmounts and deletes what the record lists. An orderly stop runs the same code, so that it is always tested.
// Invariant: processes are found by our own socket path, our own cgroups, and descent from those; never by name.

import { readdir, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cgroupProcesses, removeCgroups } from "./cgroups.js";
import { CommandFailed } from "./exec.js";
import { unmountBelow } from "./mounts.js";
import { namesIn } from "./names-in.js";
import { currentNetns, netnsExists, runInNetns } from "./netns.js";
import { removePortmapRules } from "./portmap-rules.js";
import { errnoOf } from "./problem.js";
import { listProcesses, signalAndWait, withDescendants, type ProcessIdentity } from "./processes.js";

/** Processes, mounts and files of an instance, as kept in `<dir>/instance.json`. */
export interface InstanceRecord {
  version: 1;
  dir: string;
  socket: string;
  netns?: string;
  /** The namespace it was started in when `netns` does not name one: `net:[4026531840]`. */
  ownNetns: string;
  network: string;
  bridge: string;
  subnet: string;
  /** Parent of every cgroup of its pods: `/nodelet-1a2b3c4d`. */
  cgroup: string;
  /** The namespace's net.ipv4.ip_forward before the bridge plugin turned it on. */
  ipForward: string;
  /** Chains of the portmap plugin that were there before us. */
  portmapChains: string[];
  containerd?: ProcessIdentity;
}

const RECORD = "instance.json";
const CNI_RESULTS = "/var/lib/cni/results";
const KILL_TIMEOUT_MS = 15_000;
const GRACE_MS = 5_000;

export async function writeRecord(record: InstanceRecord): Promise<void> {
  const path = join(record.dir, RECORD);
  await writeFile(`${path}.new`, JSON.stringify(record));
  await rename(`${path}.new`, path);
}

/** The record of an instance in `dir`, or undefined when there is none or it cannot be read. */
export async function readRecord(dir: string): Promise<InstanceRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(join(dir, RECORD), "utf8")) as Omit<InstanceRecord, "version"> & {
      version: number;
    };
    return record.version === 1 && record.dir === dir ? { ...record, version: 1 } : undefined;
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Ends everything the instance started and removes everything it made. Safe to repeat, safe after a crash. */
export async function removeInstance(record: InstanceRecord): Promise<void> {
  if (record.containerd !== undefined) {
    const left = await signalAndWait([record.containerd], "SIGTERM", GRACE_MS);
    await signalAndWait(left, "SIGKILL", KILL_TIMEOUT_MS);
  }
  await endProcesses(record);
  await removeShimSockets(record.dir);
  await unmountBelow(record.dir);
  await removeCgroups(record.cgroup);
  await removeNetwork(record);
  await rm(record.dir, { recursive: true, force: true });
}

/**
 * Removes every instance recorded in `dir` or at most two levels below, which a killed run has left. `netns` is where
 * they were started, if not in this process's namespace.
 */
export async function removeInstancesBelow(dir: string, netns?: string, depth = 2): Promise<void> {
  const record = await readRecord(dir);
  if (record !== undefined) {
    await removeInstance({ ...record, ...(netns === undefined ? {} : { netns }) });
    return;
  }
  if (depth === 0) return;
  for (const entry of await readdir(dir, { withFileTypes: true }).catch(ignoreAbsentFolder)) {
    if (entry.isDirectory()) await removeInstancesBelow(join(dir, entry.name), netns, depth - 1);
  }
}

/**
 * Shims, their containers and the processes that those started. A killed shim's containers are found by their cgroup.
 */
async function endProcesses(record: InstanceRecord): Promise<void> {
  // Twice at most: a shim that was just being started may have brought up a container meanwhile.
  for (let round = 0; round < 3; round++) {
    const all = await listProcesses();
    const roots = await cgroupProcesses(record.cgroup);
    for (const { pid, args } of all) {
      const at = args.indexOf("-address");
      if (at >= 0 && args[at + 1] === record.socket) roots.add(pid);
    }
    roots.delete(process.pid);
    const victims = withDescendants(all, roots).filter(({ state }) => state !== "Z");
    if (victims.length === 0) return;
    const left = await signalAndWait(victims, "SIGKILL", KILL_TIMEOUT_MS);
    if (left.length > 0)
      throw new Error(`processes do not end after SIGKILL: ${left.map(({ pid }) => pid).join(", ")}`);
  }
}

/** Shims listen in /run/containerd/s under any configuration; each bundle knows its shim's address. */
async function removeShimSockets(dir: string): Promise<void> {
  const tasks = join(dir, "state", "io.containerd.runtime.v2.task");
  for (const namespace of await namesIn(tasks)) {
    for (const id of await namesIn(join(tasks, namespace))) {
      const bundle = join(tasks, namespace, id);
      for (const file of ["address", "bootstrap.json"]) {
        const text = await readFile(join(bundle, file), "utf8").catch(() => "");
        const socket = /unix:\/\/(\/run\/containerd\/s\/[0-9a-f]+)/.exec(text)?.[1];
        if (socket !== undefined) await unlink(socket).catch(ignoreMissing);
      }
    }
  }
}

async function removeNetwork(record: InstanceRecord): Promise<void> {
  await removeCniResults(record.network);
  // A namespace that is gone took its network along; another one's bridge, rules and settings are not ours to touch.
  if (record.netns === undefined ? (await currentNetns()) !== record.ownNetns : !(await netnsExists(record.netns)))
    return;
  await runInNetns(record.netns, "ip", ["link", "delete", record.bridge]).catch((error: unknown) => {
    if (!(error instanceof CommandFailed)) throw error; // no pod ever ran: no bridge
  });
  await removePortmapRules(record.netns, record.network, record.portmapChains);
  if (record.ipForward === "0") await runInNetns(record.netns, "sh", ["-c", "echo 0 > /proc/sys/net/ipv4/ip_forward"]);
}

/** libcni keeps one file per sandbox and network in a fixed place; the one of `lo` is found by the sandbox's id. */
async function removeCniResults(network: string): Promise<void> {
  const names = await namesIn(CNI_RESULTS);
  const prefix = `${network}-`;
  const sandboxes = names
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length).split("-")[0]);
  const ours = names.filter((name) =>
    sandboxes.some((id) => id !== undefined && id !== "" && name.includes(`-${id}-`)),
  );
  for (const name of ours) await unlink(join(CNI_RESULTS, name)).catch(ignoreMissing);
}

function ignoreAbsentFolder(error: unknown): [] {
  if (errnoOf(error) === "ENOENT") return [];
  throw error;
}

function ignoreMissing(error: unknown): void {
  if (errnoOf(error) !== "ENOENT") throw error;
}
