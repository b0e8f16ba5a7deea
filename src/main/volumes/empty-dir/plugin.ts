// emptyDir: a directory of the pod's own, on the node's disk or in memory (tmpfs). Content lives as long as the pod:
// a volume once ready is never emptied, re-owned or re-mounted over by a later sync or a restarted agent.
import { chmod, mkdir, open, stat } from "node:fs/promises";
import { UnsupportedVolumeError, VolumeSetUpError } from "../errors.js";
import { clearIntent, recordIntent } from "../mount-intent.js";
import { isMountPoint, unmount } from "../mounts.js";
import { applyFsGroup } from "../ownership.js";
import { metaDirectory, POD_DIRECTORY_MODE, volumeDirectory } from "../paths.js";
import type { SetUpRequest, VolumePlugin } from "../plugin.js";
import { run } from "../program.js";
import { removeTree } from "../remove-tree.js";
import { tmpfsSize } from "./tmpfs-size.js";

const NAME = "kubernetes.io/empty-dir";
const MODE = 0o777;
const READY = "ready";

export interface EmptyDirOptions {
  rootDir: string;
  /** Upper bound of a memory-backed volume, bytes. */
  nodeMemoryBytes: bigint;
}

export function emptyDirPlugin({ rootDir, nodeMemoryBytes }: EmptyDirOptions): VolumePlugin {
  return {
    name: NAME,
    source: "emptyDir",
    async setUp(request) {
      const { pod, volume } = request;
      const medium = volume.emptyDir?.medium ?? "";
      if (medium !== "" && medium !== "Memory") {
        throw new UnsupportedVolumeError(pod, volume.name, `emptyDir with medium ${JSON.stringify(medium)}`);
      }
      const directory = volumeDirectory(rootDir, pod.metadata.uid, NAME, volume.name);
      const meta = metaDirectory(rootDir, pod.metadata.uid, NAME, volume.name);
      const mounted = medium === "Memory" && (await isMountPoint(directory));
      if ((mounted || medium === "") && (await exists(`${meta}/${READY}`)) && (await exists(directory)))
        return directory;
      try {
        await mkdir(directory, { recursive: true, mode: POD_DIRECTORY_MODE });
        if (medium === "Memory" && !mounted) await mountTmpfs(request, directory, meta);
        // mkdir's mode is cut by the umask.
        await chmod(directory, MODE);
        await applyFsGroup(directory, pod.spec.securityContext?.fsGroup);
        await mkdir(meta, { recursive: true, mode: POD_DIRECTORY_MODE });
        await (await open(`${meta}/${READY}`, "w", 0o640)).close();
      } catch (error) {
        request.signal.throwIfAborted();
        throw new VolumeSetUpError(pod, volume.name, error instanceof Error ? error.message : String(error), {
          cause: error,
        });
      }
      return directory;
    },
    async tearDown(uid, volume) {
      const directory = volumeDirectory(rootDir, uid, NAME, volume);
      const meta = metaDirectory(rootDir, uid, NAME, volume);
      await unmount(uid, directory);
      await clearIntent(meta);
      await removeTree(directory);
      // Last, so that an interrupted teardown finds the volume again.
      await removeTree(meta);
    },
  };

  async function mountTmpfs({ pod, volume, signal }: SetUpRequest, target: string, meta: string): Promise<void> {
    const sizeBytes = tmpfsSize(pod, volume.emptyDir ?? {}, nodeMemoryBytes).toString();
    await recordIntent(meta, { version: 1, kind: "tmpfs", target, sizeBytes });
    await run("mount", ["-t", "tmpfs", "-o", `size=${sizeBytes},mode=0777`, "tmpfs", target], signal);
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
