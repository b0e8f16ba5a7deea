// A pod's volumes, set up before its first container and torn down after its last. State is what is on disk and in the
// mount table: a restarted agent needs no memory of the one before. INVARIANTS: only volumes that a container uses are
// set up; a pod's directory goes only when its volumes are down.
import { mkdir, readdir } from "node:fs/promises";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import type { Pod } from "../../shared/api/pod.js";
import type { Volume } from "../../shared/api/volume.js";
import { emptyDirPlugin } from "./empty-dir/plugin.js";
import { UnsupportedVolumeError, VolumeSetUpError } from "./errors.js";
import { hostPathPlugin } from "./host-path/plugin.js";
import { unmount } from "./mounts.js";
import * as paths from "./paths.js";
import type { VolumePlugin } from "./plugin.js";
import { removeEmpty, removeOwnTree, removeTree } from "./remove-tree.js";
import { prepareSubPath, type SubPathRequest } from "./sub-path.js";

export interface VolumeManager {
  /**
   * Host paths of the pod's volumes by volume name. Idempotent, and quick when all is set up.
   * @throws UnsupportedVolumeError, VolumeSetUpError, or the signal's reason
   */
  setUpPod(pod: Pod, signal: AbortSignal): Promise<Map<string, string>>;
  /** Host path to mount for a volumeMount with a subPath. @throws SubPathError, VolumeBusyError */
  prepareSubPath(request: SubPathRequest): Promise<string>;
  /** Idempotent. @throws VolumeBusyError, ForeignMountError: try again later */
  tearDownPod(uid: string): Promise<void>;
  /** Removes what is left of the pod's directory. @throws ForeignMountError while anything is mounted below it */
  removePodDirectory(uid: string): Promise<void>;
  /** UIDs of pods with a directory on disk. */
  listPods(): Promise<string[]>;
}

export interface VolumeManagerOptions {
  /** Root directory of the agent: /var/lib/kubelet. Absolute. */
  rootDir: string;
  /** Bound of memory-backed volumes, bytes. */
  nodeMemoryBytes: bigint;
  log: Logger;
}

export function createVolumeManager(given: VolumeManagerOptions): VolumeManager {
  const options = { ...given, log: moduleLogger(given.log, "volumes") };
  return new PluginVolumeManager(options, [emptyDirPlugin(options), hostPathPlugin()]);
}

class PluginVolumeManager implements VolumeManager {
  constructor(
    private readonly options: VolumeManagerOptions,
    private readonly plugins: readonly VolumePlugin[],
  ) {}

  async setUpPod(pod: Pod, signal: AbortSignal): Promise<Map<string, string>> {
    signal.throwIfAborted();
    const { rootDir } = this.options;
    const { uid } = pod.metadata;
    const used = usedVolumes(pod);
    // Refuse before anything is made: a pod of which one volume cannot be is not started at all.
    const planned = used.map((volume) => ({ volume, plugin: this.pluginFor(pod, volume) }));
    await mkdir(paths.volumesDirectory(rootDir, uid), { recursive: true, mode: paths.POD_DIRECTORY_MODE });
    const outcomes = await Promise.allSettled(
      planned.map(async ({ volume, plugin }) => [volume.name, await plugin.setUp({ pod, volume, signal })] as const),
    );
    const result = new Map<string, string>();
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") throw outcome.reason;
      result.set(...outcome.value);
    }
    signal.throwIfAborted();
    return result;
  }

  prepareSubPath(request: SubPathRequest): Promise<string> {
    return prepareSubPath(this.options.rootDir, request);
  }

  async tearDownPod(uid: string): Promise<void> {
    const { rootDir } = this.options;
    await this.tearDownSubPaths(uid);
    const volumes = paths.volumesDirectory(rootDir, uid);
    for (const directoryName of await list(volumes)) {
      const plugin = this.plugins.find(({ name }) => paths.pluginDirectoryName(name) === directoryName);
      for (const volume of await list(`${volumes}/${directoryName}`)) {
        if (plugin?.tearDown === undefined) {
          this.options.log.warn(
            { uid, volume, plugin: directoryName },
            "removing a volume directory of an unknown plugin",
          );
          await removeTree(`${volumes}/${directoryName}/${volume}`);
        } else {
          await plugin.tearDown(uid, volume);
        }
      }
      await removeEmpty(`${volumes}/${directoryName}`);
    }
    await removeEmpty(volumes);
  }

  async removePodDirectory(uid: string): Promise<void> {
    const directory = paths.podDirectory(this.options.rootDir, uid);
    await this.tearDownPod(uid);
    await removeOwnTree(directory);
  }

  listPods(): Promise<string[]> {
    return list(paths.podsDirectory(this.options.rootDir));
  }

  private pluginFor(pod: Pod, volume: Volume): VolumePlugin {
    const plugin = this.plugins.find(({ source }) => volume[source] !== undefined && volume[source] !== null);
    if (plugin !== undefined) return checkedName(pod, volume, plugin);
    const source = Object.keys(volume).find((key) => key !== "name" && volume[key] != null);
    throw new UnsupportedVolumeError(pod, volume.name, source ?? "(none)");
  }

  private async tearDownSubPaths(uid: string): Promise<void> {
    const directory = paths.subPathsDirectory(this.options.rootDir, uid);
    // The agent's own mounts are at VOLUME/CONTAINER/INDEX; one anywhere else came in by propagation and stops removeTree.
    for (const volume of await list(directory)) {
      for (const container of await list(`${directory}/${volume}`)) {
        for (const index of await list(`${directory}/${volume}/${container}`)) {
          await unmount(uid, `${directory}/${volume}/${container}/${index}`);
        }
      }
    }
    await removeTree(directory);
  }
}

/** Volumes that some container mounts, in the pod's order; upstream leaves the others alone too. */
function usedVolumes(pod: Pod): Volume[] {
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [] } = pod.spec;
  const used = new Set<string>();
  for (const { volumeMounts = [], volumeDevices = [] } of [...containers, ...initContainers, ...ephemeralContainers]) {
    for (const { name } of [...volumeMounts, ...volumeDevices]) used.add(name);
  }
  return volumes.filter(({ name }) => used.has(name));
}

/** A volume's name becomes a directory that is later removed. */
function checkedName(pod: Pod, volume: Volume, plugin: VolumePlugin): VolumePlugin {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(volume.name)) return plugin;
  throw new VolumeSetUpError(pod, volume.name, "the name must be lower-case letters, digits and '-', at most 63");
}

async function list(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
