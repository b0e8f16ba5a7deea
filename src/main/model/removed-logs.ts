// The logs of a container go with the container, as with upstream's kubelet: its own file, the rotated files, and the
// link in /var/log/containers. Without that, a container that crashes for weeks fills the disk and its log folder.
// Invariant: only files of the removed run go; the file of a run that is still shown stays.

import { unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { unlessGone } from "../../shared/base/errors/unless-gone.js";
import { FolderTooBigError, inUntrustedFolder, namesOf, NotFolderError } from "../../shared/io/fs/untrusted-folder.js";
import type { ObservedContainer } from "../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId, PodUid } from "../../shared/kubernetes/identifiers.js";
import { currentName } from "../../shared/node/container-logs/file-names.js";
import { containerLogPath, logSymlinkName, podLogDirectory, restartCountOf } from "./paths.js";

export interface LogFolders {
  podLogsDir: string;
  containerLogsDir: string;
}

/** The run of a container whose logs are to be removed. */
export interface RemovedRun {
  pod: { namespace: string; name: string; uid: PodUid };
  container: string;
  containerId: ContainerId;
  restartCount: number;
}

/** The restart count of a container, unless one of `kept` has the same log file. */
export function removableLog(status: ObservedContainer, kept: readonly ObservedContainer[]): number | undefined {
  const count = restartCountOf(status);
  const isShared = kept.some(
    (other) => other.metadata?.name === status.metadata?.name && restartCountOf(other) === count,
  );
  return isShared ? undefined : count;
}

/** Files that are gone already are no error. */
export async function removeLogsOfRun({ podLogsDir, containerLogsDir }: LogFolders, run: RemovedRun): Promise<void> {
  const pod = { metadata: run.pod };
  const folder = dirname(join(podLogDirectory(podLogsDir, pod), containerLogPath(run.container, run.restartCount)));
  const current = currentName(run.restartCount);
  await unlessGone(
    inUntrustedFolder(folder, async (path) => {
      const names = await namesOf(path, (name) => name === current || name.startsWith(`${current}.`));
      for (const name of names) await unlinkFile(join(path, name));
    }),
  ).catch((error: unknown) => {
    // A link or a file that a pod put in the folder's place has no logs of ours behind it, nor is one with a million
    // names of ours. The container has to go all the same.
    if (!(error instanceof NotFolderError || error instanceof FolderTooBigError)) throw error;
  });
  await unlessGone(unlink(join(containerLogsDir, logSymlinkName(pod, run.container, run.containerId))));
}

/** A folder of a log's name is not ours. */
async function unlinkFile(path: string): Promise<void> {
  await unlessGone(unlink(path)).catch((error: unknown) => {
    if (errorCode(error) !== "EISDIR") throw error;
  });
}
