// Tears down the volumes of one pod, each by itself. A volume that is busy or hangs delays only itself and the pod's
// directory. The volumes to tear down are read from disk, because the pod may be from an earlier kubelet.

import type { Clock } from "../../shared/base/clock/clock.js";
import { asError } from "../../shared/base/errors/thrown.js";
import type { LoopShare } from "../../shared/base/turns/loop-share.js";
import { settleAtMost } from "../../shared/base/turns/map-at-most.js";
import {
  devicesDirectory,
  pluginDirectoryName,
  pluginName,
  pluginsDirectory,
  podDirectory,
  subPathsDirectory,
  volumesDirectory,
} from "../../shared/kubernetes/api/pod-paths.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { volumeOperationPendingError } from "./errors.js";
import { unmount } from "./mounts.js";
import * as paths from "./paths.js";
import type { OnPluginKnown, VolumeDoer, VolumePlugin } from "./plugin.js";
import { removeEmpty, removeTree } from "./remove-tree.js";
import { volumeKey, type ActualState } from "./world/actual-state.js";
import type { VolumeOperations } from "./world/operations.js";
import { VOLUMES_AT_ONCE } from "./world/wait-for-volumes.js";

/** Time for which one call waits for a volume; the teardown continues, and the next call finds it pending or done. */
const PATIENCE_MS = 15_000;

export interface TearDownDeps {
  rootDir: string;
  clock: Clock;
  log: Logger;
  plugins: readonly VolumePlugin[];
  operations: VolumeOperations;
  actual: ActualState;
  /** Each operation begins in its turn. */
  loop: Pick<LoopShare, "turn">;
  /** One attempt, measured. */
  attempt<T>(doer: VolumeDoer, work: (onPluginKnown: OnPluginKnown) => Promise<T>): Promise<T>;
}

/** All volumes are tried before the first failure is thrown. */
export async function tearDownVolumes(deps: TearDownDeps, uid: PodUid): Promise<void> {
  const { rootDir, operations, actual, clock } = deps;
  const onDisk = await volumesOnDisk(deps, uid);
  const outcomes = await settleAtMost(VOLUMES_AT_ONCE, onDisk.volumes, async ([volume, found]) => {
    await deps.loop.turn();
    const key = volumeKey(uid, volume);
    const down = operations.tearDown(key, async () => {
      await tearDownVolume(deps, uid, volume, found);
      actual.tornDown(uid, volume);
    });
    await within(clock, PATIENCE_MS, down, () => volumeOperationPendingError(key));
  });
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  // The rest are volumes without a directory on disk.
  for (const { volume } of actual.ofPod(uid)) actual.tornDown(uid, volume);
  operations.forgetPod(uid);
  if (onDisk.hasSubPaths) await removeTree(subPathsDirectory(rootDir, uid));
  for (const directory of onDisk.pluginDirectories) await removeEmpty(directory);
}

/** Plugin directories that a volume has. */
interface FoundVolume {
  mounts: string[];
  /** Paths of a volume that the pod has as a block device. */
  devices: string[];
  subPaths: boolean;
}

interface OnDisk {
  /** By name. */
  volumes: Map<string, FoundVolume>;
  hasSubPaths: boolean;
  /** Directories that are empty after all volumes are torn down; nested ones first. */
  pluginDirectories: string[];
}

/**
 * Volumes of the host have no directories, but may have sub-paths. A kind that the pod's directory does not list is
 * skipped.
 */
async function volumesOnDisk({ rootDir }: TearDownDeps, uid: PodUid): Promise<OnDisk> {
  const volumes: OnDisk["volumes"] = new Map();
  const entry = (volume: string): FoundVolume => {
    let known = volumes.get(volume);
    if (known === undefined) volumes.set(volume, (known = { mounts: [], devices: [], subPaths: false }));
    return known;
  };
  const pod = podDirectory(rootDir, uid);
  const there = new Set((await paths.namesIn(pod)).map((name) => `${pod}/${name}`));
  const subPaths = subPathsDirectory(rootDir, uid);
  const hasSubPaths = there.has(subPaths);
  if (hasSubPaths) for (const volume of await paths.namesIn(subPaths)) entry(volume).subPaths = true;
  const pluginDirectories: string[] = [];
  const kinds = { mounts: volumesDirectory(rootDir, uid), devices: devicesDirectory(rootDir, uid) };
  for (const kind of ["mounts", "devices"] as const) {
    if (!there.has(kinds[kind])) continue;
    for (const plugin of await paths.namesIn(kinds[kind])) {
      for (const volume of await paths.namesIn(`${kinds[kind]}/${plugin}`)) entry(volume)[kind].push(plugin);
      pluginDirectories.push(`${kinds[kind]}/${plugin}`);
      // Directory of the plugin's mount records.
      if (kind === "mounts") pluginDirectories.push(`${pluginsDirectory(rootDir, uid)}/${plugin}`);
    }
    // The directory of links to devices is removed with the pod's.
    if (kind === "mounts") pluginDirectories.push(kinds.mounts);
  }
  return { volumes, hasSubPaths, pluginDirectories };
}

async function tearDownVolume(deps: TearDownDeps, uid: PodUid, volume: string, found: FoundVolume): Promise<void> {
  if (found.subPaths) await tearDownSubPaths(deps.rootDir, uid, volume);
  const pluginOf = (directory: string): VolumePlugin | undefined =>
    deps.plugins.find(({ name }) => pluginDirectoryName(name) === directory);
  const owner = deps.plugins.find((plugin) => plugin.tearDownIn !== undefined);
  for (const directory of found.mounts) {
    const plugin = pluginOf(directory);
    await deps.attempt({ plugin: pluginName(directory) }, async (onPluginKnown) => {
      if (plugin?.tearDown !== undefined) return plugin.tearDown(uid, volume, onPluginKnown);
      if (owner?.tearDownIn !== undefined) return owner.tearDownIn(directory, uid, volume);
      deps.log.warn({ uid, volume, plugin: directory }, "removing a volume directory of an unknown plugin");
      return removeTree(`${volumesDirectory(deps.rootDir, uid)}/${directory}/${volume}`);
    });
  }
  for (const directory of found.devices) {
    const plugin = pluginOf(directory);
    const doer = { plugin: pluginName(directory), block: true };
    await deps.attempt(doer, async (onPluginKnown) => plugin?.unmapDevice?.(uid, volume, onPluginKnown));
  }
}

/**
 * The kubelet's own mounts are at VOLUME/CONTAINER/INDEX; one anywhere else came in by propagation and stops
 * removeTree.
 */
async function tearDownSubPaths(rootDir: string, uid: PodUid, volume: string): Promise<void> {
  const directory = `${subPathsDirectory(rootDir, uid)}/${volume}`;
  for (const container of await paths.namesIn(directory)) {
    for (const index of await paths.namesIn(`${directory}/${container}`)) {
      await unmount(uid, `${directory}/${container}/${index}`);
    }
  }
  await removeTree(directory);
}

async function within<T>(clock: Clock, ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = clock.after(ms, () => reject(late()));
    work.then(
      (result) => {
        timer.cancel();
        resolve(result);
      },
      (error: unknown) => {
        timer.cancel();
        reject(asError(error));
      },
    );
  });
}
