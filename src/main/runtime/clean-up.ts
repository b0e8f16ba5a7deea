// What a terminated pod leaves on this machine is taken down: volumes first, then cgroup, directories, logs and links.
import { readdir, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import { removeFiles } from "../../shared/fs/remove-files.js";
import type { NodeRuntime } from "./node-runtime.js";

/** A pod that is over but still shown keeps its directories: they hold its last words. Rejects as cleanUpPod does. */
export async function releasePod(runtime: NodeRuntime, uid: string): Promise<void> {
  runtime.cluster?.()?.podGone(uid);
  await Promise.all([runtime.volumes.tearDownPod(uid), runtime.cgroups.removePod(uid)]);
}

/**
 * Rejects when a volume is still busy or a file can't go; to be repeated until it resolves. The logs of a pod that comes
 * back under its UID stay: they tell how often its containers have run.
 */
export async function cleanUpPod(runtime: NodeRuntime, uid: string, comesBack = false): Promise<void> {
  runtime.cluster?.()?.podGone(uid);
  await Promise.all([runtime.volumes.removePodDirectory(uid), runtime.cgroups.removePod(uid)]);
  // Its directory held the record of its ids: from here on they may be another pod's.
  runtime.userNamespaces.release(uid);
  if (!comesBack) await removeLogs(runtime, uid);
}

/** The log directory's name ends in the UID; links to it lie beside those of other pods. */
async function removeLogs(runtime: NodeRuntime, uid: string): Promise<void> {
  const { podLogsDir, containerLogsDir } = runtime.settings;
  const directories = (await namesIn(podLogsDir)).filter((name) => name.endsWith(`_${uid}`));
  for (const name of directories) {
    const directory = join(podLogsDir, name);
    const [namespace = "", podName = ""] = name.split("_");
    await removeLinks(containerLogsDir, `${podName}_${namespace}_`, directory);
    await removeFiles(directory);
  }
}

async function removeLinks(linksDir: string, prefix: string, target: string): Promise<void> {
  for (const name of await namesIn(linksDir)) {
    if (!name.startsWith(prefix)) continue;
    const link = join(linksDir, name);
    const to = await readlink(link).catch(() => "");
    if (to.startsWith(`${target}/`)) await rm(link, { force: true });
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
