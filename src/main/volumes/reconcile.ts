// Compares the mount records of an earlier kubelet with the mount table, once, before anything is deleted.
// Invariant: this file removes only records, and only those of mounts that never happened; directories and mounts stay
// for set-up and teardown.

import { stat } from "node:fs/promises";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { mountsWithin, readMounts } from "../../shared/io/fs/mountinfo.js";
import {
  MOUNT_POINT,
  devicesDirectory,
  pluginName,
  pluginsDirectory,
  podsDirectory,
  volumesDirectory,
} from "../../shared/kubernetes/api/pod-paths.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { VolumeMetrics } from "./metrics.js";
import { clearIntent, readIntent } from "./mount-intent.js";
import { asMountPoint } from "./mounts.js";
import * as paths from "./paths.js";
import type { SetUpVolume } from "./world/actual-state.js";

export interface ReconcileDeps {
  rootDir: string;
  log: Logger;
  metrics: VolumeMetrics;
}

/** The volumes that are set up. Rejects when the mount table or the pods' directory cannot be read. */
export async function reconcile({ rootDir, log, metrics }: ReconcileDeps): Promise<SetUpVolume[]> {
  const pods = podsDirectory(rootDir);
  const prefix = await asMountPoint(pods);
  const mounted = new Set(mountsWithin(await readMounts(), prefix).map(({ mountPoint }) => mountPoint));
  for (const mountPoint of mounted) {
    if (mountPoint === prefix || MOUNT_POINT.test(mountPoint.slice(prefix.length + 1))) continue;
    log.warn(
      { mountPoint },
      `${mountPoint} is mounted in a pod's directory, and not by the kubelet; it blocks the pod's removal`,
    );
  }
  const found: SetUpVolume[] = [];
  for (const uid of await paths.podUidsIn(rootDir)) {
    try {
      found.push(...(await reconcilePod(rootDir, uid, prefix, mounted, log)));
    } catch (error) {
      metrics.reconstructed(false);
      log.error({ err: error, uid }, `cannot read the volumes of pod ${uid}; its teardown tries again`);
    }
  }
  found.forEach(() => metrics.reconstructed(true));
  return found;
}

async function reconcilePod(
  rootDir: string,
  uid: PodUid,
  prefix: string,
  mounted: ReadonlySet<string>,
  log: Logger,
): Promise<SetUpVolume[]> {
  const found: SetUpVolume[] = [];
  const records = pluginsDirectory(rootDir, uid);
  const [volumes, meta] = await Promise.all([volumesIn(volumesDirectory(rootDir, uid)), volumesIn(records)]);
  for (const [plugin, volume] of volumes) {
    const isMounted = mounted.has(`${prefix}/${uid}/volumes/${plugin}/${volume}`);
    const note = await readIntent(`${records}/${plugin}/${volume}`);
    const isReady = await exists(`${records}/${plugin}/${volume}/${paths.READY_FILE}`);
    const name = `volume ${volume} of pod ${uid}`;
    if (isMounted && note === undefined && !isReady) {
      log.info({ uid, volume }, `${name} was mounted by another kubelet; it is unmounted with its pod`);
    }
    if (!isMounted && note !== undefined) {
      log.info({ uid, volume }, `${name} has a mount record but is not mounted; mounting it when its pod needs it`);
      await clearIntent(`${records}/${plugin}/${volume}`);
    } else if (isMounted || isReady) {
      found.push({ uid, volume, plugin: pluginName(plugin), place: undefined });
    }
  }
  for (const [plugin, volume] of await volumesIn(devicesDirectory(rootDir, uid))) {
    found.push({ uid, volume, plugin: pluginName(plugin), place: undefined });
  }
  for (const [plugin, volume] of meta) {
    if (volumes.some((one) => one[0] === plugin && one[1] === volume)) continue;
    log.info({ uid, volume }, `removing the mount record of volume ${volume} of pod ${uid}: its directory is missing`);
    await clearIntent(`${records}/${plugin}/${volume}`);
  }
  return found;
}

async function volumesIn(directory: string): Promise<[plugin: string, volume: string][]> {
  const plugins = await paths.namesIn(directory);
  const lists = await Promise.all(
    plugins.map(async (plugin) => {
      const names = await paths.namesIn(`${directory}/${plugin}`);
      return names.map((name): [string, string] => [plugin, name]);
    }),
  );
  return lists.flat();
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
