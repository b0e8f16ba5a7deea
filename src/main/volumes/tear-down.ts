// Takes the volumes of one pod down, each by itself: what is busy or hangs keeps only its own volume, and the pod, back.
// What there is to take down is read from disk, since the pod may be an earlier agent's.
import type { Clock } from "../../shared/clock/clock.js";
import type { Logger } from "../../shared/log/logger.js";
import { VolumeOperationPendingError } from "./errors.js";
import { unmount } from "./mounts.js";
import * as paths from "./paths.js";
import type { VolumePlugin } from "./plugin.js";
import { removeEmpty, removeTree } from "./remove-tree.js";
import { volumeKey, type ActualState } from "./world/actual-state.js";
import type { VolumeOperations } from "./world/operations.js";

/** How long one call waits for a volume; the teardown goes on, and the next call finds it under way or done. */
const PATIENCE_MS = 15_000;

export interface TearDownDeps {
  rootDir: string;
  clock: Clock;
  log: Logger;
  plugins: readonly VolumePlugin[];
  operations: VolumeOperations;
  actual: ActualState;
  /** One attempt, measured. */
  attempt<T>(plugin: string, work: () => Promise<T>): Promise<T>;
}

/** All volumes are tried before the first failure is thrown. */
export async function tearDownVolumes(deps: TearDownDeps, uid: string): Promise<void> {
  const { rootDir, operations, actual, clock } = deps;
  const volumes = paths.volumesDirectory(rootDir, uid);
  const onDisk = await volumesOnDisk(deps, uid);
  const outcomes = await Promise.allSettled(
    [...onDisk].map(async ([volume, found]) => {
      const key = volumeKey(uid, volume);
      const down = operations.tearDown(key, async () => {
        await tearDownVolume(deps, uid, volume, found);
        actual.tornDown(uid, volume);
      });
      await within(clock, PATIENCE_MS, down, () => new VolumeOperationPendingError(key));
    }),
  );
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  // What is left were volumes with nothing on disk.
  for (const { volume } of actual.ofPod(uid)) actual.tornDown(uid, volume);
  operations.forgetPod(uid);
  await removeTree(paths.subPathsDirectory(rootDir, uid));
  for (const plugin of await paths.namesIn(volumes)) await removeEmpty(`${volumes}/${plugin}`);
  await removeEmpty(volumes);
  const devices = paths.devicesDirectory(rootDir, uid);
  for (const plugin of await paths.namesIn(devices)) await removeEmpty(`${devices}/${plugin}`);
}

/** Plugin directories that a volume has. */
interface OnDisk {
  mounts: string[];
  /** Of a volume that the pod has as a device. */
  devices: string[];
}

/** Volumes of the host have no directories, but may have sub-paths. */
async function volumesOnDisk({ rootDir }: TearDownDeps, uid: string): Promise<Map<string, OnDisk>> {
  const found = new Map<string, OnDisk>();
  const entry = (volume: string): OnDisk => {
    let known = found.get(volume);
    if (known === undefined) found.set(volume, (known = { mounts: [], devices: [] }));
    return known;
  };
  for (const volume of await paths.namesIn(paths.subPathsDirectory(rootDir, uid))) entry(volume);
  const kinds = { mounts: paths.volumesDirectory(rootDir, uid), devices: paths.devicesDirectory(rootDir, uid) };
  for (const kind of ["mounts", "devices"] as const) {
    for (const plugin of await paths.namesIn(kinds[kind])) {
      for (const volume of await paths.namesIn(`${kinds[kind]}/${plugin}`)) entry(volume)[kind].push(plugin);
    }
  }
  return found;
}

async function tearDownVolume(deps: TearDownDeps, uid: string, volume: string, found: OnDisk): Promise<void> {
  await tearDownSubPaths(deps.rootDir, uid, volume);
  const pluginOf = (directory: string): VolumePlugin | undefined =>
    deps.plugins.find(({ name }) => paths.pluginDirectoryName(name) === directory);
  for (const directory of found.mounts) {
    const plugin = pluginOf(directory);
    await deps.attempt(paths.pluginName(directory), async () => {
      if (plugin?.tearDown !== undefined) return plugin.tearDown(uid, volume);
      deps.log.warn({ uid, volume, plugin: directory }, "removing a volume directory of an unknown plugin");
      return removeTree(`${paths.volumesDirectory(deps.rootDir, uid)}/${directory}/${volume}`);
    });
  }
  for (const directory of found.devices) {
    const plugin = pluginOf(directory);
    await deps.attempt(paths.pluginName(directory), async () => plugin?.unmapDevice?.(uid, volume));
  }
}

/** The agent's own mounts are at VOLUME/CONTAINER/INDEX; one anywhere else came in by propagation and stops removeTree. */
async function tearDownSubPaths(rootDir: string, uid: string, volume: string): Promise<void> {
  const directory = `${paths.subPathsDirectory(rootDir, uid)}/${volume}`;
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
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
