// The mount record. The kubelet writes it to disk before a mount and removes it after the unmount. So after a crash at
// any instruction a restarted kubelet recognises its own present or former mount.

import { mkdir, unlink, writeFile } from "node:fs/promises";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { asDiskFull } from "../../shared/io/fs/atomic-write.js";
import { readRegularText } from "../../shared/io/fs/regular-file.js";
import { NotRegularFileError } from "../../shared/io/fs/untrusted-file.js";
import { POD_DIRECTORY_MODE } from "./paths.js";
import { removeOwnTree } from "./remove-tree.js";

/** The mounts that the kubelet makes for pods: file system types, and "bind" for any directory of the node. */
const KINDS = ["tmpfs", "hugetlbfs", "bind", "nfs"] as const;
export type OwnFsType = (typeof KINDS)[number];

export interface MountIntent {
  version: 1;
  kind: OwnFsType;
  target: string;
  /** Only for tmpfs: size limit, as a mount option. */
  sizeBytes?: string;
  /** Only for hugetlbfs: page size, as a mount option. */
  pageSizeBytes?: string;
}

/** The content of a record: a record that cannot be read still counts as one. */
export interface KnownIntent {
  kind: OwnFsType | undefined;
}

const FILE = "mount.json";

/**
 * Outlives the kubelet. It need not outlive the machine: then there is no mount. Written in place, while nothing is
 * mounted yet: half a note counts as one.
 * @throws DiskFullError
 */
export async function recordIntent(metaDirectory: string, intent: MountIntent): Promise<void> {
  await mkdir(metaDirectory, { recursive: true, mode: POD_DIRECTORY_MODE });
  const path = `${metaDirectory}/${FILE}`;
  try {
    await writeFile(path, `${JSON.stringify(intent)}\n`, { mode: 0o600 });
  } catch (error) {
    throw asDiskFull(path, error);
  }
}

/** undefined when there is none. */
export async function readIntent(metaDirectory: string): Promise<KnownIntent | undefined> {
  let text: string;
  try {
    text = await readRegularText(`${metaDirectory}/${FILE}`);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    if (error instanceof NotRegularFileError) return { kind: undefined };
    throw error;
  }
  return { kind: kindOf(text) };
}

export async function clearIntent(metaDirectory: string): Promise<void> {
  const path = `${metaDirectory}/${FILE}`;
  try {
    await unlink(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return;
    if (code !== "EISDIR") throw error;
    // A folder in its place must not keep the pod from being removed.
    await removeOwnTree(path);
  }
}

function kindOf(text: string): OwnFsType | undefined {
  try {
    const { kind } = JSON.parse(text) as Partial<MountIntent>;
    return KINDS.find((known) => known === kind);
  } catch {
    return undefined; // half a note, of a machine that crashed
  }
}
