// The link that cri-dockerd makes in the place of a container's log: it leads to the file that the Docker Engine
// writes.
// Invariant: a link is followed only to a regular file <ID>-json.log in a folder <ID>, where ID is the id of the very
// container. So a pod that plants links in log folders reads no file of the node and no other container's log, wherever
// its links lead.

import { readlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { NotRegularFileError } from "../../io/fs/untrusted-file.js";
import { inUntrustedFolder } from "../../io/fs/untrusted-folder.js";
import { mountThatMayHang } from "../volume-calls/may-hang.js";

/** The link leads to a mount that may not respond; nothing of it was touched. */
export class LogOnHangableMountError extends Error {
  override readonly name = "LogOnHangableMountError";
  constructor(link: string, mountPoint: string) {
    super(`the log behind ${link} lies on ${mountPoint}, a mount that may not respond; the kubelet does not open it`);
  }
}

/** A log file of a container, by its name in an open folder. */
export interface LogPlace {
  /** A path of the folder that stays valid while other folders get its name. */
  folder: string;
  /** The folder's own path, from which relative links count. */
  directory: string;
  name: string;
  /** Ids of the container's runs, as the runtime has them. */
  containerIds: readonly string[];
}

/**
 * Does the work with the log, or with Docker's file behind it.
 * @throws as `work`; NotRegularFileError for any other link
 */
export async function onLogFile<T>(place: LogPlace, work: (path: string) => Promise<T>): Promise<T> {
  const path = join(place.folder, place.name);
  try {
    return await work(path);
  } catch (error) {
    if (!(error instanceof NotRegularFileError) || place.containerIds.length === 0) throw error;
    const target = await dockerFile(path, place);
    if (target === undefined) throw error;
    const mount = await mountThatMayHang(target);
    if (mount !== undefined) throw new LogOnHangableMountError(join(place.directory, place.name), mount.mountPoint);
    // Links above the container's folder are the operator's: Docker's data directory may be one.
    return await inUntrustedFolder(dirname(target), (folder) => work(join(folder, basename(target))), OWN_FOLDER);
  }
}

const OWN_FOLDER = 1;

/** The path of the container's own file that the link names; undefined: another path, or no link. */
async function dockerFile(path: string, { directory, containerIds }: LogPlace): Promise<string | undefined> {
  const target = await readlink(path).then(
    (text) => resolve(directory, text),
    () => undefined,
  );
  if (target === undefined) return undefined;
  const id = basename(dirname(target));
  return containerIds.includes(id) && basename(target) === `${id}-json.log` ? target : undefined;
}

/** "docker://ID" → "ID" */
export function bareContainerId(containerId: string): string {
  return containerId.slice(containerId.lastIndexOf("/") + 1);
}
