// emptyDir: a directory of the pod's own, on the node's disk, in memory (tmpfs) or in huge pages (hugetlbfs). Content
// lives as long as the pod. After a volume was ready, no later sync or restarted kubelet empties it, changes its owner
// or mounts over it.

import { chmod, mkdir, open, stat } from "node:fs/promises";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { metaDirectory, volumeDirectory } from "../../../shared/kubernetes/api/pod-paths.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { UnsupportedVolumeError, VolumeSetUpError } from "../errors.js";
import { setOwnership, type OwnershipDeps } from "../fs-group/set-ownership.js";
import type { MountIntent } from "../mount-intent.js";
import { isMountPoint } from "../mounts.js";
import { OwnMounts } from "../own-mount.js";
import { POD_DIRECTORY_MODE, READY_FILE } from "../paths.js";
import type { SetUpRequest, VolumePlugin } from "../plugin.js";
import type { ProjectQuotas } from "../quotas/project-quotas.js";
import { removeTree } from "../remove-tree.js";
import { isHugePages, hugePageSize } from "./huge-pages.js";
import { tmpfsSize } from "./tmpfs-size.js";

const NAME = "kubernetes.io/empty-dir";
const MODE = 0o777;
/** As upstream, a tmpfs keeps the kernel's default mode. */
const TMPFS_MODE = 0o1777;

export interface EmptyDirOptions {
  rootDir: string;
  /** Upper bound of a memory-backed volume, bytes. */
  nodeMemoryBytes: bigint;
  ownership: OwnershipDeps;
  quotas: Pick<ProjectQuotas, "assign" | "adopt" | "clear">;
}

interface Backing {
  intent: MountIntent;
  /** The file system's options. */
  data: string;
  mode: number;
}

export function emptyDirPlugin(options: EmptyDirOptions): VolumePlugin {
  const volumes = new EmptyDirs(options);
  return {
    name: NAME,
    source: "emptyDir",
    async setUp(request) {
      const { pod, volume, signal } = request;
      try {
        return { hostPath: await volumes.setUp(request), relabel: true };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof UnsupportedVolumeError || error instanceof VolumeSetUpError) throw error;
        throw new VolumeSetUpError(pod, volume.name, messageOf(error), { cause: error });
      }
    },
    tearDown: (uid, volume) => volumes.tearDown(uid, volume),
  };
}

class EmptyDirs {
  private readonly ownMounts = new OwnMounts();

  constructor(private readonly options: EmptyDirOptions) {}

  /** Returns the volume's directory. */
  async setUp(request: SetUpRequest): Promise<string> {
    const { rootDir, nodeMemoryBytes, ownership, quotas } = this.options;
    const { pod, volume, signal } = request;
    const directory = volumeDirectory(rootDir, pod.metadata.uid, NAME, volume.name);
    const meta = metaDirectory(rootDir, pod.metadata.uid, NAME, volume.name);
    const backing = backingOf(request, directory, nodeMemoryBytes);
    const mounted = backing !== undefined && (await isMountPoint(directory));
    const complete = mounted || backing === undefined;
    // As upstream: in the node's own user namespace a container may give its files to another project.
    const isCounted = backing === undefined && pod.spec.hostUsers === false;
    if (complete && (await exists(`${meta}/${READY_FILE}`)) && (await exists(directory))) {
      if (isCounted) await quotas.adopt(directory);
      return directory;
    }
    await mkdir(directory, { recursive: true, mode: POD_DIRECTORY_MODE });
    if (!complete) await this.ownMounts.make(meta, backing.intent, backing.data);
    // mkdir's mode is cut by the umask.
    await chmod(directory, backing?.mode ?? MODE);
    await setOwnership(ownership, { pod, directory, plugin: NAME, signal });
    if (isCounted) await quotas.assign(directory);
    await mkdir(meta, { recursive: true, mode: POD_DIRECTORY_MODE });
    await (await open(`${meta}/${READY_FILE}`, "w", 0o640)).close();
    return directory;
  }

  async tearDown(uid: PodUid, volume: string): Promise<void> {
    const { rootDir, quotas } = this.options;
    const target = volumeDirectory(rootDir, uid, NAME, volume);
    const meta = metaDirectory(rootDir, uid, NAME, volume);
    await this.ownMounts.removeVolume({ uid, target, meta }, ["tmpfs", "hugetlbfs"], removeTree);
    await quotas.clear(target);
    // Last, so that an interrupted teardown finds the volume again.
    await removeTree(meta);
  }
}

/** undefined: the directory itself, on the node's disk. @throws UnsupportedVolumeError, VolumeSetUpError */
function backingOf({ pod, volume }: SetUpRequest, target: string, nodeMemoryBytes: bigint): Backing | undefined {
  const source = volume.emptyDir ?? {};
  const { medium = "" } = source;
  if (medium === "") return undefined;
  if (medium === "Memory") {
    const sizeBytes = tmpfsSize(pod, source, nodeMemoryBytes).toString();
    return {
      intent: { version: 1, kind: "tmpfs", target, sizeBytes },
      data: `size=${sizeBytes},mode=1777`,
      mode: TMPFS_MODE,
    };
  }
  if (!isHugePages(medium)) {
    throw new UnsupportedVolumeError(pod, volume.name, `emptyDir with medium ${JSON.stringify(medium)}`);
  }
  const size = hugePageSize(pod, medium);
  if ("problem" in size) throw new VolumeSetUpError(pod, volume.name, size.problem);
  const pageSizeBytes = size.bytes.toString();
  return {
    intent: { version: 1, kind: "hugetlbfs", target, pageSizeBytes },
    data: `pagesize=${pageSizeBytes},mode=0777`,
    mode: MODE,
  };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
