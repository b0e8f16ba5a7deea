// The pods that use each CSI volume of this node, and the volumes that are staged. A volume is unstaged after its last
// user. Invariant: the users are read from disk once, before anything is unstaged. Afterwards they are kept in memory.

import { readlink } from "node:fs/promises";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { namesIn, podUidsIn } from "../paths.js";
import { deviceKey } from "./csi-volume.js";
import * as paths from "./paths.js";
import { readVolData } from "./vol-data.js";

export interface Device {
  driver: string;
  handle: string;
  /** Only for a block volume: the name that its directories have. */
  block: string | undefined;
  /** Keys of pods' volumes. */
  users: Set<string>;
  /** NodeStageVolume was called, and no NodeUnstageVolume has succeeded since. */
  staged: boolean;
  /** The driver confirmed the staging to this kubelet process. */
  surelyStaged: boolean;
  /** In the API it is an in-tree volume of a cloud, as far as this kubelet process has read it. */
  migrated?: boolean;
  /** The volume is attached by a controller; undefined: found on disk, not known. */
  attachable: boolean | undefined;
}

export class DeviceUsers {
  private readonly devices = new Map<string, Device>();

  /** Reads the users that an earlier kubelet left. @throws the errors of reading directories */
  async load(rootDir: string): Promise<void> {
    for (const uid of await podUidsIn(rootDir)) await this.loadPod(rootDir, uid);
    await this.loadStaged(rootDir);
  }

  get(key: string): Device | undefined {
    return this.devices.get(key);
  }

  /** Whether a pod other than that one uses the volume, or has something of it on disk. */
  hasOtherPod(key: string, uid: PodUid): boolean {
    const own = userKey(uid, "");
    return [...(this.devices.get(key)?.users ?? [])].some((user) => !user.startsWith(own));
  }

  use(volume: { driver: string; handle: string }, user: string, block?: string): Device {
    const key = deviceKey(volume);
    let device = this.devices.get(key);
    if (device === undefined) {
      const { driver, handle } = volume;
      const state = { staged: false, surelyStaged: false, attachable: undefined };
      device = { driver, handle, block, users: new Set(), ...state };
      this.devices.set(key, device);
    }
    device.users.add(user);
    return device;
  }

  /** Nothing of it is staged any more; unless a pod has come meanwhile, it is not of this node. */
  forgetUnused(device: Device): void {
    if (device.users.size === 0) this.devices.delete(deviceKey(device));
  }

  /** As node.status.volumesInUse has them: what must not be detached. */
  inUse(): string[] {
    return [...this.devices].filter(([, { attachable }]) => attachable !== false).map(([key]) => key);
  }

  unused(): string[] {
    return [...this.devices].filter(([, { users }]) => users.size === 0).map(([key]) => key);
  }

  private async loadPod(rootDir: string, uid: PodUid): Promise<void> {
    const mounts = paths.publishedIn(rootDir, uid);
    for (const spec of await namesIn(mounts)) {
      const data = await readVolData(`${mounts}/${spec}`);
      if (data === undefined || data.volumeLifecycleMode === "Ephemeral") continue;
      this.use({ driver: data.driverName, handle: data.volumeHandle }, userKey(uid, spec));
    }
    const podMap = paths.podMapDirectory(rootDir, uid);
    for (const spec of await namesIn(podMap)) {
      const data = await readVolData(paths.blockPaths(rootDir, spec).data);
      if (data === undefined || !(await isLink(`${podMap}/${spec}`))) continue;
      this.use({ driver: data.driverName, handle: data.volumeHandle }, userKey(uid, spec), spec);
    }
  }

  private async loadStaged(rootDir: string): Promise<void> {
    const root = paths.csiRoot(rootDir);
    for (const driver of await namesIn(root)) {
      if (driver === "volumeDevices") continue;
      for (const name of await namesIn(`${root}/${driver}`)) {
        const data = await readVolData(`${root}/${driver}/${name}`);
        if (data !== undefined) this.staged(data.driverName, data.volumeHandle, undefined);
      }
    }
    const devices = paths.devicesRoot(rootDir);
    for (const spec of await namesIn(devices)) {
      if (spec === "staging" || spec === "publish") continue;
      const data = await readVolData(`${devices}/${spec}/data`);
      if (data !== undefined) this.staged(data.driverName, data.volumeHandle, spec);
    }
  }

  private staged(driver: string, handle: string, block: string | undefined): void {
    const device = this.use({ driver, handle }, "", block);
    device.users.delete("");
    device.staged = true;
  }
}

export function userKey(uid: PodUid, spec: string): string {
  return `${uid}/${spec}`;
}

async function isLink(path: string): Promise<boolean> {
  try {
    await readlink(path);
    return true;
  } catch (error) {
    if (["ENOENT", "EINVAL"].includes(errorCode(error) ?? "")) return false;
    throw error;
  }
}
