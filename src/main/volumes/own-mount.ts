// Filesystems that the kubelet mounts itself as volumes.
// Invariant: the mount record is on disk before the mount and is deleted after the unmount. A mount without a record
// but of the plugin's own kind is another kubelet's, and is unmounted with the volume. A mount of another kind stays.

import { statfs } from "node:fs/promises";
import { isOsCallError } from "../../shared/io/os/errors.js";
import { mount, unmount as unmountCall } from "../../shared/io/os/mount.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { ForeignMountError, volumeBusyError } from "./errors.js";
import {
  clearIntent,
  readIntent,
  recordIntent,
  type KnownIntent,
  type MountIntent,
  type OwnFsType,
} from "./mount-intent.js";
import { mountsAt, unmount } from "./mounts.js";
import { removeEmpty } from "./remove-tree.js";

/** f_type of statfs(2), by file system. */
const MAGIC = { tmpfs: 0x01021994, hugetlbfs: 0x958458f6 } as const;
type InMemory = keyof typeof MAGIC;

/** A volume's directory, and that of the plugin's notes on it. */
export interface OwnVolume {
  uid: PodUid;
  target: string;
  meta: string;
}

export class OwnMounts {
  /** Kernels before 6.3, and user namespaces, know no noswap. */
  private noSwapRefused = false;
  /** The mount records that this process wrote, by target. */
  private readonly noted = new Map<string, OwnFsType>();

  constructor(private readonly mountNow = mount) {}

  /** `data`: the file system's options. @throws OsCallError, DiskFullError */
  async make(meta: string, intent: MountIntent, data: string): Promise<void> {
    const { kind: type, target } = intent;
    const request = { source: type, target, type, flags: ["relAtime"] as const };
    await recordIntent(meta, intent);
    this.noted.set(target, type);
    if (type === "tmpfs" && !this.noSwapRefused) {
      try {
        await this.mountNow({ ...request, data: `${data},noswap` });
        return;
      } catch (error) {
        if (!isOsCallError(error, "EINVAL")) throw error;
      }
    }
    await this.mountNow({ ...request, data });
    // The mount without noswap succeeded: the kernel does not support that option.
    this.noSwapRefused ||= type === "tmpfs";
  }

  /** For mounts that a program makes: the note precedes `work`, which is left out where it is mounted already. */
  async makeBy(meta: string, intent: MountIntent, work: () => Promise<void>): Promise<void> {
    if ((await mountsAt(intent.target)).length > 0) return;
    await recordIntent(meta, intent);
    await work();
  }

  /**
   * Idempotent. Resolves to whether the directory at `target` is removed, too; if false, it may still exist.
   * @throws VolumeError, ForeignMountError, ProgramError, OsCallError
   */
  async remove(uid: PodUid, target: string, meta: string): Promise<boolean> {
    const noted = this.noted.get(target);
    const intent = noted === undefined ? await readIntent(meta) : { kind: noted };
    if (intent === undefined) return false;
    const gone = isInMemory(intent.kind) && (await this.removeQuickly(uid, target, intent.kind));
    if (!gone) await this.removeLayers(uid, target, intent);
    await clearIntent(meta);
    this.noted.delete(target);
    return gone;
  }

  /**
   * True in the common case: one layer, of the recorded kind, over an empty directory. The kernel shows that without a
   * read of the mount table. False: another case, or unknown.
   */
  private async removeQuickly(uid: PodUid, target: string, kind: InMemory): Promise<boolean> {
    if ((await fileSystemAt(target)) !== MAGIC[kind]) return false;
    await this.unmountLayer(uid, target);
    return removeEmpty(target);
  }

  /**
   * Removes the volume's directory by `removeTree`, which refuses to delete below a mount. A mount of these kinds was
   * made by an earlier kubelet
   * on this node: it is unmounted first. @throws VolumeError, ForeignMountError, ProgramError, OsCallError
   */
  async removeVolume(
    { uid, target, meta }: OwnVolume,
    kinds: readonly OwnFsType[],
    removeTree: (directory: string) => Promise<unknown>,
  ): Promise<void> {
    if (await this.remove(uid, target, meta)) return;
    try {
      await removeTree(target);
    } catch (error) {
      if (!(error instanceof ForeignMountError)) throw error;
      const layers = await mountsAt(target);
      if (layers.length === 0 || !layers.every(({ fsType }) => kinds.some((kind) => fits(fsType, kind)))) throw error;
      await unmount(uid, target);
      await removeTree(target);
    }
  }

  private async removeLayers(uid: PodUid, target: string, intent: KnownIntent): Promise<void> {
    const layers = await mountsAt(target);
    if (intent.kind !== undefined && layers.some(({ fsType }) => !fits(fsType, intent.kind))) {
      throw new ForeignMountError(target, [target]);
    }
    const byCall = intent.kind !== "nfs" && intent.kind !== "bind";
    if (!byCall && layers.length > 0) await unmount(uid, target);
    for (let left = byCall ? layers.length : 0; left > 0; left--) await this.unmountLayer(uid, target);
  }

  /** By the system call: file systems in memory have no server that could keep it waiting. */
  private async unmountLayer(uid: PodUid, target: string): Promise<void> {
    try {
      await unmountCall(target, ["noFollow"]);
    } catch (error) {
      if (isOsCallError(error, "EBUSY")) throw volumeBusyError(uid, target);
      // Another process has unmounted it in the meantime.
      if (!isOsCallError(error, "EINVAL")) throw error;
    }
  }
}

function isInMemory(kind: OwnFsType | undefined): kind is InMemory {
  return kind !== undefined && kind in MAGIC;
}

/** undefined when statfs fails: the mount table decides then. */
async function fileSystemAt(directory: string): Promise<number | undefined> {
  return statfs(directory).then(
    ({ type }) => type,
    () => undefined,
  );
}

function fits(fsType: string, kind: OwnFsType | undefined): boolean {
  if (kind === "bind") return true;
  return kind === "nfs" ? /^nfs4?$/.test(fsType) : fsType === kind;
}
