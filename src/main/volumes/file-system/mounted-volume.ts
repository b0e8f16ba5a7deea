// Volumes that the kubelet mounts itself at pods/UID/volumes/PLUGIN/NAME: local directories and nfs.
// Invariant: a mount record precedes the mount and is removed after the unmount; nothing is removed while it is
// mounted.

import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import { metaDirectory, volumeDirectory } from "../../../shared/kubernetes/api/pod-paths.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { OwnFsType } from "../mount-intent.js";
import { OwnMounts } from "../own-mount.js";
import { makeMountPoint } from "../paths.js";
import { removeTree } from "../remove-tree.js";
import { mountByProgram } from "./program-mount.js";

export interface MountedVolume {
  uid: PodUid;
  /** Name of the directory. */
  name: string;
  source: string;
  options: readonly string[];
  signal: AbortSignal;
}

export interface MountedKind {
  rootDir: string;
  /** "kubernetes.io/nfs". */
  plugin: string;
  kind: Extract<OwnFsType, "bind" | "nfs">;
  /** For tests. */
  mount?: typeof mountByProgram;
}

export class MountedVolumes {
  private readonly own = new OwnMounts();
  private readonly locks = new KeyedSerializer();

  constructor(private readonly kind: MountedKind) {}

  /** Idempotent. Resolves to where it is mounted. */
  setUp({ uid, name, source, options, signal }: MountedVolume): Promise<string> {
    const { plugin, kind, mount = mountByProgram } = this.kind;
    const { target, meta } = this.places(uid, name);
    const type = kind === "bind" ? "" : kind;
    return this.locks.run(`${uid}/${name}`, async () => {
      signal.throwIfAborted();
      await makeMountPoint(target);
      const words = kind === "bind" ? ["bind", ...options] : options;
      await this.own.makeBy(meta, { version: 1, kind, target }, () =>
        mount({ source, target, type, options: words }, signal).catch(async (error: unknown) => {
          await this.own.remove(uid, target, meta);
          throw error instanceof Error ? error : new Error(`${plugin}: ${String(error)}`);
        }),
      );
      return target;
    });
  }

  /** Idempotent. @throws VolumeError, ForeignMountError, ProgramError */
  tearDown(uid: PodUid, name: string): Promise<void> {
    const { target, meta } = this.places(uid, name);
    return this.locks.run(`${uid}/${name}`, async () => {
      await this.own.removeVolume({ uid, target, meta }, [this.kind.kind], removeTree);
      await removeTree(meta);
    });
  }

  private places(uid: PodUid, name: string): { target: string; meta: string } {
    const { rootDir, plugin } = this.kind;
    return {
      target: volumeDirectory(rootDir, uid, plugin, name),
      meta: metaDirectory(rootDir, uid, plugin, name),
    };
  }
}
