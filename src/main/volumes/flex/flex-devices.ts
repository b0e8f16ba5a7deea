// Devices of flexVolume drivers that attach: attached and mounted once per node, at
// plugins/kubernetes.io/flexvolume/<driver>/mounts/<volume>.
// Invariant: that directory exists from before the driver's first call until the driver has undone everything. So a
// later kubelet knows the volume. Callers hold the volume's lock.

import { rmdir, stat } from "node:fs/promises";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { quote } from "../../../shared/base/text/quote.js";
import { pluginDirectoryName, volumesDirectory } from "../../../shared/kubernetes/api/pod-paths.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { NodeAttachments } from "../attachments/node-attachments.js";
import { prepareDevice } from "../file-system/format.js";
import { mountByProgram } from "../file-system/program-mount.js";
import type { OwnershipDeps } from "../fs-group/set-ownership.js";
import { measured } from "../measured.js";
import { isMountPoint, mountsAt, unmount } from "../mounts.js";
import * as paths from "../paths.js";
import type { FlexDriver } from "./driver.js";
import { attachedName, deviceMounts, FLEX_PLUGIN, flexPlugin } from "./names.js";
import { optionsFor, type FlexRequest } from "./options.js";

/** Longest wait for a device to appear; upstream's value. */
const WAIT_FOR_ATTACH_MS = 600_000;
const DEFAULT_FS_TYPE = "ext4";

export interface FlexDevicesOptions {
  rootDir: string;
  attachments: NodeAttachments;
  ownership: OwnershipDeps;
  log: Logger;
}

interface ReleaseRequest {
  name: string;
  /** The pod that used the volume last, or "". */
  uid: PodUid | "";
  signal: AbortSignal;
}

export class FlexDevices {
  /** Devices of this process's attached volumes. */
  private readonly attached = new Map<string, string>();

  constructor(private readonly options: FlexDevicesOptions) {}

  target(driver: string, name: string): string {
    return `${deviceMounts(this.options.rootDir, driver)}/${name}`;
  }

  /** Attaches the volume, or waits until the controller has. Resolves to the device's path, which may be "". */
  async attach(driver: FlexDriver, request: FlexRequest): Promise<string> {
    const { attachments, ownership } = this.options;
    const { name, pod, signal } = request;
    const unique = attachedName(driver.name, name);
    // On disk first: an attached volume must stay in volumesInUse after a restart.
    await paths.makeMountPoint(this.target(driver.name, name));
    attachments.use(unique);
    const options = optionsFor(request);
    const doer = { plugin: flexPlugin(driver.name) };
    let device: string;
    if (attachments.byController) {
      const wait = (): Promise<string> => attachments.waitFor(unique, signal);
      device = await measured(ownership, "verify_controller_attached_volume", doer, wait);
    } else {
      const args = [options, attachments.nodeName];
      const call = () => driver.callIfSupported("attach", args, { signal });
      device = (await measured(ownership, "volume_attach", doer, call))?.device ?? "";
      const message = `AttachVolume.Attach succeeded for volume ${quote(name)} `;
      ownership.events.pod(pod, { type: "Normal", reason: "SuccessfulAttachVolume", message });
    }
    const waited = { signal, deadlineMs: WAIT_FOR_ATTACH_MS };
    const path = (await driver.callIfSupported("waitforattach", [device, options], waited))?.device ?? device;
    this.attached.set(unique, path);
    return path;
  }

  /**
   * The device of a mounted volume: the one that the driver named, or the mount's; "" where the driver mounts something
   * else.
   */
  async deviceOf(driver: FlexDriver, name: string): Promise<string> {
    const unique = attachedName(driver.name, name);
    const named = this.attached.get(unique);
    if (named !== undefined && named !== "") return named;
    const [mount] = await mountsAt(this.target(driver.name, name));
    return mount?.source.startsWith("/dev/") === true ? mount.source : "";
  }

  /** Idempotent. */
  async mount(driver: FlexDriver, request: FlexRequest, device: string): Promise<void> {
    const { signal, source, readOnly } = request;
    const target = this.target(driver.name, request.name);
    await paths.makeMountPoint(target);
    if (await isMountPoint(target)) return;
    const args = [target, device, optionsFor(request)];
    if ((await driver.callIfSupported("mountdevice", args, { signal })) !== undefined || device === "") return;
    const fsType = source.fsType === undefined || source.fsType === "" ? DEFAULT_FS_TYPE : source.fsType;
    await prepareDevice({ device, fsType, readOnly });
    signal.throwIfAborted();
    const options = [readOnly ? "ro" : "rw", "defaults"];
    await mountByProgram({ source: device, target, type: fsType, options }, signal);
  }

  /** Names of the driver's volumes that are, or were, attached to this node. */
  names(driver: string): Promise<string[]> {
    return paths.namesIn(deviceMounts(this.options.rootDir, driver));
  }

  /** Idempotent: does nothing while a pod uses the volume. @throws VolumeError */
  async release(driver: FlexDriver, { name, uid, signal }: ReleaseRequest): Promise<void> {
    const target = this.target(driver.name, name);
    if (!(await this.names(driver.name)).includes(name) || (await this.isUsed(driver.name, name))) return;
    const doer = { plugin: flexPlugin(driver.name) };
    await measured(this.options.ownership, "unmount_device", doer, async () => {
      if (!(await isMountPoint(target))) return;
      if ((await driver.callIfSupported("unmountdevice", [target], { signal })) === undefined)
        await unmount(uid, target);
    });
    await rmdir(target).catch((error: unknown) => {
      // The driver may have removed the directory.
      if (errorCode(error) !== "ENOENT") throw error;
    });
    const { attachments } = this.options;
    if (!attachments.byController) await driver.callIfSupported("detach", [name, attachments.nodeName], { signal });
    attachments.forget(attachedName(driver.name, name));
    this.attached.delete(attachedName(driver.name, name));
  }

  /** Every driver that has or had devices on this node, with its volumes. */
  async onDisk(): Promise<{ driver: string; name: string }[]> {
    const root = `${this.options.rootDir}/plugins/${FLEX_PLUGIN}`;
    const drivers: string[] = [];
    for (const first of await paths.namesIn(root)) {
      if (await isDirectory(`${root}/${first}/mounts`)) drivers.push(first);
      for (const second of await paths.namesIn(`${root}/${first}`)) {
        if (second !== "mounts" && (await isDirectory(`${root}/${first}/${second}/mounts`)))
          drivers.push(`${first}/${second}`);
      }
    }
    const lists = await Promise.all(
      drivers.map(async (driver) => (await this.names(driver)).map((name) => ({ driver, name }))),
    );
    return lists.flat();
  }

  /** By the names of directories: a mount there may not respond. */
  private async isUsed(driver: string, name: string): Promise<boolean> {
    const { rootDir } = this.options;
    for (const uid of await paths.podUidsIn(rootDir)) {
      const volumes = `${volumesDirectory(rootDir, uid)}/${pluginDirectoryName(flexPlugin(driver))}`;
      if ((await paths.namesIn(volumes)).includes(name)) return true;
    }
    return false;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
