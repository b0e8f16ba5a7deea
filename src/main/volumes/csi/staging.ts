// Staging: a volume is made ready on the node once, before its first pod, and undone after its last.
// Invariant: a record of each staged volume is on disk before the call to the driver; a call whose outcome is unknown
// counts as done until it is undone; nothing is unstaged while a pod uses it. Pods do not wait for unstaging: it is
// tried until it is done.

import { rmdir } from "node:fs/promises";
import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import { Backoff } from "../../../shared/base/turns/backoff.js";
import { PluginCallError } from "../../../shared/kubernetes/plugins/call-error.js";
import type { DeepPartial, VolumeCapability } from "../../../shared/kubernetes/plugins/gen/csi.v1.js";
import { measured } from "../measured.js";
import { isMountPoint } from "../mounts.js";
import { makeMountPoint } from "../paths.js";
import { removeEmpty, removeTree } from "../remove-tree.js";
import { VolumeError } from "../volume-error.js";
import { type CsiContext } from "./context.js";
import { csiPlugin, type CsiVolume } from "./csi-volume.js";
import { CAPABILITY, type CsiNode } from "./node-port.js";
import * as paths from "./paths.js";
import { readSecret } from "./read-secret.js";
import type { Device } from "./users.js";
import { removeVolData, writeVolData } from "./vol-data.js";

/** Back-off of unstaging; upstream's values. */
const RETRY = { initialMs: 500, maxMs: 122_000 };

export interface StageRequest {
  volume: CsiVolume;
  node: CsiNode;
  device: Device;
  capability: DeepPartial<VolumeCapability>;
  publishContext: Readonly<Record<string, string>>;
  seLinuxMountContext?: string;
}

export class Staging {
  /** By device: the loop that unstages it. */
  private readonly loops = new Map<string, Promise<void>>();
  private readonly lifetime = new Lifetime();

  constructor(
    private readonly context: CsiContext,
    /** The node is done with the volume: it may be detached, and forgotten. */
    private readonly onGone: (device: Device) => Promise<void>,
  ) {}

  /** To be called under the device's lock. Resolves to the staging path, "" for drivers that do not stage. */
  async stage(request: StageRequest, signal: AbortSignal): Promise<string> {
    const { volume, node, device } = request;
    const { rootDir } = this.context;
    if (!(await node.capabilities(signal)).has(CAPABILITY.STAGE_UNSTAGE_VOLUME)) return "";
    const { notes, target } = this.places(device);
    if (device.surelyStaged) return target;
    const secrets = await readSecret(this.context.joined().client, volume.stageSecret, signal);
    const before = device.staged;
    await makeMountPoint(target);
    if (device.block === undefined) {
      const { driver: driverName, handle: volumeHandle } = volume;
      const { seLinuxMountContext } = request;
      const seLinux = seLinuxMountContext === undefined ? {} : { seLinuxMountContext };
      await writeVolData(paths.stagingDirectory(rootDir, driverName, volumeHandle), {
        driverName,
        volumeHandle,
        ...seLinux,
      });
    }
    device.staged = true;
    try {
      await node.stage(
        {
          volumeId: volume.handle,
          publishContext: request.publishContext,
          stagingTargetPath: target,
          volumeCapability: request.capability,
          secrets,
          volumeContext: volume.attributes,
        },
        signal,
      );
    } catch (error) {
      // The driver is sure that nothing was done.
      if (!before && error instanceof PluginCallError && !error.uncertain) {
        device.staged = false;
        await this.removePlaces(device, notes, target);
      }
      throw error;
    }
    device.surelyStaged = true;
    return target;
  }

  /** The pod of that key is done with the volume; the last one's leaving unstages it, in the background. */
  release(key: string, user: string): void {
    const device = this.context.users.get(key);
    if (device === undefined) return;
    device.users.delete(user);
    if (device.users.size === 0) this.unstageLater(key);
  }

  /** Unstages volumes that an earlier kubelet staged for pods that no longer exist. */
  releaseUnused(): void {
    for (const key of this.context.users.unused()) this.unstageLater(key);
  }

  /** The staging path of the device. */
  target(device: Device): string {
    return this.places(device).target;
  }

  /** Settles when nothing is left to unstage. For tests. */
  async idle(): Promise<void> {
    await Promise.all(this.loops.values());
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.idle();
  }

  private unstageLater(key: string): void {
    if (this.loops.has(key) || this.lifetime.hasEnded) return;
    this.loops.set(
      key,
      this.unstageUntilDone(key).finally(() => this.loops.delete(key)),
    );
  }

  private async unstageUntilDone(key: string): Promise<void> {
    const { locks, clock, log } = this.context;
    const { signal } = this.lifetime;
    const backoff = new Backoff(RETRY);
    while (!isEnded(signal)) {
      try {
        await locks.run(key, () => this.unstage(key, signal), signal);
        return;
      } catch (error) {
        if (isEnded(signal)) return;
        log.warn({ err: error, volume: key }, `cannot unstage volume ${key}; trying again`);
      }
      await clock.sleep(backoff.next(), signal).catch(() => undefined);
    }
  }

  private async unstage(key: string, signal: AbortSignal): Promise<void> {
    const { users, drivers } = this.context;
    const device = users.get(key);
    if (device === undefined || device.users.size > 0) return;
    if (device.staged) {
      const { notes, target } = this.places(device);
      device.surelyStaged = false;
      const { node } = await drivers.get(device.driver, signal);
      const { driver, handle, migrated = false, block } = device;
      const doer = { plugin: csiPlugin(driver), migrated, block: block !== undefined };
      await measured(this.context, "unmount_device", doer, async () => {
        if ((await node.capabilities(signal)).has(CAPABILITY.STAGE_UNSTAGE_VOLUME)) {
          await node.unstage({ volumeId: handle, stagingTargetPath: target }, signal);
        }
        if (await isMountPoint(target)) {
          throw new VolumeError(`driver ${driver} unstaged ${key}, but ${target} is still mounted`);
        }
        await this.removePlaces(device, notes, target);
      });
      device.staged = false;
    }
    // A pod may have come meanwhile; it waits for its turn, and stages again.
    if (device.users.size > 0) return;
    await this.onGone(device);
  }

  private places(device: Device): { notes: string; target: string } {
    const { rootDir } = this.context;
    if (device.block !== undefined) {
      const { staging, volume } = paths.blockPaths(rootDir, device.block);
      return { notes: volume, target: staging };
    }
    const notes = paths.stagingDirectory(rootDir, device.driver, device.handle);
    return { notes, target: `${notes}/${paths.GLOBAL_MOUNT}` };
  }

  private async removePlaces(device: Device, notes: string, target: string): Promise<void> {
    const { rootDir } = this.context;
    if (device.block !== undefined) {
      await removeTree(target);
      await removeEmpty(paths.blockPaths(rootDir, device.block).publishParent);
      await removeTree(notes);
      return;
    }
    // Never recursively: files that a driver left there may be the volume's content.
    await rmdir(target).catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
      throw error;
    });
    await removeVolData(notes);
    await removeEmpty(notes);
  }
}

function isEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}
