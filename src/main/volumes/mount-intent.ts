// A note on disk of a mount about to be made: written before it, removed after the unmount, so that after a crash at any
// instruction a restarted agent knows that the directory may be, or once was, a mount of its own.
import { mkdir, readFile, rm } from "node:fs/promises";
import { atomicWrite, errorCode } from "../../shared/fs/atomic-write.js";
import { POD_DIRECTORY_MODE } from "./paths.js";
import { removeOwnTree } from "./remove-tree.js";

/** What the agent mounts for pods: file system types, and "bind" for a directory of the node's, of whatever type. */
const KINDS = ["tmpfs", "hugetlbfs", "bind", "nfs"] as const;
export type OwnFsType = (typeof KINDS)[number];

export interface MountIntent {
  version: 1;
  kind: OwnFsType;
  target: string;
  /** Of tmpfs. */
  sizeBytes?: string;
  /** Of hugetlbfs. */
  pageSizeBytes?: string;
}

/** What is known of a note: one that cannot be read still counts as one. */
export interface KnownIntent {
  kind: OwnFsType | undefined;
}

const FILE = "mount.json";

/** Outlives the agent. It need not outlive the machine: then there is no mount. */
export async function recordIntent(metaDirectory: string, intent: MountIntent): Promise<void> {
  await mkdir(metaDirectory, { recursive: true, mode: POD_DIRECTORY_MODE });
  await atomicWrite(`${metaDirectory}/${FILE}`, `${JSON.stringify(intent)}\n`, { durable: false });
}

/** undefined when there is none. */
export async function readIntent(metaDirectory: string): Promise<KnownIntent | undefined> {
  let text: string;
  try {
    text = await readFile(`${metaDirectory}/${FILE}`, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    if (errorCode(error) === "EISDIR") return { kind: undefined };
    throw error;
  }
  return { kind: kindOf(text) };
}

export async function clearIntent(metaDirectory: string): Promise<void> {
  const path = `${metaDirectory}/${FILE}`;
  try {
    await rm(path, { force: true });
  } catch (error) {
    // A folder in its place: it must not keep the pod from going.
    if (errorCode(error) !== "ERR_FS_EISDIR") throw error;
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
