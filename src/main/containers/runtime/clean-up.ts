// Removes the remains of a terminated pod from this machine: volumes first, then cgroup, directories, logs and links.

import { readlink, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { unlessGone } from "../../../shared/base/errors/unless-gone.js";
import { entriesOf, namesOf } from "../../../shared/io/fs/untrusted-folder.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { podLogDirectory, podOfLogDirectory } from "../../model/paths.js";
import type { NodeRuntime } from "./node-runtime.js";
import { removeFiles } from "./remove-files.js";

/**
 * A terminated pod that is still shown keeps its directories: they hold its termination messages. Rejects as cleanUpPod
 * does. `pod`: its definition, where that is known.
 */
export async function releasePod(
  runtime: NodeRuntime,
  uid: PodUid,
  pod: Pod | undefined,
  signal: AbortSignal,
): Promise<void> {
  const cluster = runtime.cluster?.();
  cluster?.podRemoved(uid);
  await Promise.all([
    cluster?.claims.unprepare(uid, pod, signal),
    runtime.volumes.tearDownPod(uid),
    runtime.cgroups.removePod(uid),
  ]);
}

/**
 * Rejects when a volume is still busy or a file can't go; to be repeated until it resolves. The logs of a pod that
 * comes back under its UID stay: they show how often its containers have run. `pod`: its definition, where that is
 * known. `links`: all links to its logs, where those are known.
 */
export async function cleanUpPod(
  runtime: NodeRuntime,
  uid: PodUid,
  signal: AbortSignal,
  { pod, comesBack = false, links }: { pod?: Pod | undefined; comesBack?: boolean; links?: string[] | undefined } = {},
): Promise<void> {
  const cluster = runtime.cluster?.();
  cluster?.podRemoved(uid);
  await Promise.all([
    cluster?.claims.unprepare(uid, pod, signal),
    runtime.volumes.removePodDirectory(uid),
    runtime.cgroups.removePod(uid),
  ]);
  // Its directory held the record of its ids: from here on they may be another pod's.
  runtime.userNamespaces.release(uid);
  if (!comesBack) await removeLogs(runtime, uid, pod, links);
}

/** Links to the log directory are beside those of other pods. */
async function removeLogs(
  runtime: NodeRuntime,
  uid: PodUid,
  pod: Pod | undefined,
  links: readonly string[] | undefined,
): Promise<void> {
  const { podLogsDir, containerLogsDir } = runtime.settings;
  const directories =
    pod === undefined
      ? ((await unlessGone(namesOf(podLogsDir, (name) => podOfLogDirectory(name)?.uid === uid))) ?? [])
      : [basename(podLogDirectory(podLogsDir, pod))];
  for (const name of directories) {
    const directory = join(podLogsDir, name);
    const named = podOfLogDirectory(name);
    if (links !== undefined) await Promise.all(links.map((link) => unlessGone(unlink(link))));
    else if (named !== undefined)
      await unlessGone(removeLinks(containerLogsDir, `${named.name}_${named.namespace}_`, directory));
    await removeFiles(directory);
  }
}

async function removeLinks(linksDir: string, prefix: string, target: string): Promise<void> {
  for await (const { name } of entriesOf(linksDir)) {
    if (!name.startsWith(prefix)) continue;
    const link = join(linksDir, name);
    const to = await readlink(link).catch(() => "");
    if (to.startsWith(`${target}/`)) await unlessGone(unlink(link));
  }
}
