// flexVolumes of this node: the driver mounts each volume at pods/<uid>/volumes/<vendor~driver>/<name>.
// Invariant: one operation at a time per volume; the pod's directory is there before the driver is asked and goes after
// it has unmounted the volume; nothing below it is deleted.

import { mkdir, open, rm, rmdir, stat } from "node:fs/promises";
import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import { metaDirectory, volumeDirectory } from "../../../shared/kubernetes/api/pod-paths.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { ClusterAccess } from "../../model/cluster-access.js";
import { growFileSystem } from "../file-system/grow-file-system.js";
import { mountByProgram } from "../file-system/program-mount.js";
import { setOwnership } from "../fs-group/set-ownership.js";
import { isMountPoint, unmount } from "../mounts.js";
import * as paths from "../paths.js";
import type { HostPlace } from "../place.js";
import { removeTree } from "../remove-tree.js";
import { VolumeError } from "../volume-error.js";
import type { FlexDriver } from "./driver.js";
import { FlexDrivers, FlexDriverMissingError } from "./drivers.js";
import { FlexDevices, type FlexDevicesOptions } from "./flex-devices.js";
import { attachedName, flexPlugin, FlexSpecError } from "./names.js";
import { mountOptions, optionsFor, type FlexRequest } from "./options.js";

export interface FlexVolumesOptions extends FlexDevicesOptions {
  /** volumePluginDir. */
  pluginDir: string;
  /** Absent on a stand-alone node. */
  cluster?: ClusterAccess | undefined;
}

/** A driver may move the metadata of a large file system. */
const EXPAND_MS = 3_600_000;

export class FlexVolumes {
  readonly drivers: FlexDrivers;
  private readonly devices: FlexDevices;
  private readonly locks = new KeyedSerializer();
  /** Volumes that this process set up, or found set up. */
  private readonly ready = new Set<string>();
  private readonly lifetime = new Lifetime();
  private releasing: Promise<void> | undefined;

  constructor(private readonly options: FlexVolumesOptions) {
    const { pluginDir, ownership, log } = options;
    this.drivers = new FlexDrivers({ pluginDir, clock: ownership.clock, log });
    this.devices = new FlexDevices(options);
  }

  /** Idempotent. @throws FlexSpecError, FlexDriverMissingError, VolumeError, or the signal's reason */
  async setUp(request: FlexRequest): Promise<HostPlace> {
    const { pod, name, source, readOnly, signal, retryNow } = request;
    const driver = await this.drivers.find(source.driver, retryNow);
    signal.throwIfAborted();
    const { target, ready } = this.places(pod.metadata.uid, driver.name, name);
    const { supportsMetrics, selinuxRelabel } = driver.capabilities;
    const place: HostPlace = {
      hostPath: target,
      volumeName: name,
      unmeasured: !supportsMetrics ? true : undefined,
      ...(readOnly ? { readOnly: true } : selinuxRelabel && { relabel: true }),
    };
    if (this.ready.has(target)) return place;
    if ((await exists(ready)) && (await isMountPoint(target))) {
      this.ready.add(target);
      return place;
    }
    // Upstream requests the name and ignores it.
    if (driver.capabilities.attach) await driver.callIfSupported("getvolumename", [optionsFor(request)], { signal });
    await this.locks.run(`${driver.name}/${name}`, () => this.mount(driver, request), signal);
    this.ready.add(target);
    return place;
  }

  /** Does a volume of the driver grow on nodes? */
  async grows(driver: string): Promise<boolean> {
    return (await this.drivers.find(driver)).capabilities.requiresFSResize;
  }

  /**
   * The driver's work; of one that knows no such command, the file system's own tool.
   * @throws VolumeError, ProgramError
   */
  async grow(request: FlexRequest, mountPoint: string, sizes: { oldBytes: bigint; newBytes: bigint }): Promise<void> {
    const { source, name, signal } = request;
    const driver = await this.drivers.find(source.driver);
    const work = async (): Promise<void> => {
      const device = driver.capabilities.attach ? await this.devices.deviceOf(driver, name) : "";
      const { newBytes, oldBytes } = sizes;
      const args = [optionsFor(request), device, mountPoint, String(newBytes), String(oldBytes)];
      if ((await driver.callIfSupported("expandfs", args, { signal, deadlineMs: EXPAND_MS })) !== undefined) return;
      if (device === "") {
        throw new VolumeError(`flexVolume driver ${driver.name} has no command expandfs, and named no device to grow`);
      }
      await growFileSystem({ device, mountPoint });
    };
    await this.locks.run(`${driver.name}/${name}`, work, signal);
  }

  /** Idempotent. @throws VolumeError, FlexDriverMissingError, VolumeError */
  async tearDown(driverName: string, uid: PodUid, name: string): Promise<void> {
    const { target, meta } = this.places(uid, driverName, name);
    const driver = await this.findForTearDown(driverName, target);
    const { signal } = this.lifetime;
    await this.locks.run(`${driverName}/${name}`, async () => {
      // The mount table first: a file system that does not respond is not looked at.
      if ((await isMountPoint(target)) || (await exists(target))) {
        if (driver === undefined) await removeTree(target);
        else if ((await driver.callIfSupported("unmount", [target], { signal })) === undefined)
          await unmount(uid, target);
        if (await isMountPoint(target)) {
          throw new VolumeError(`flexVolume driver ${driverName} unmounted ${target}, but it is still mounted`);
        }
        this.ready.delete(target);
        await removeLeft(target);
      }
      await rm(meta, { recursive: true, force: true });
      if (driver !== undefined) await this.devices.release(driver, { name, uid, signal });
    });
  }

  /**
   * Reads the devices that an earlier kubelet left: all are in use. Those that no pod uses are unmounted in the
   * background.
   */
  async recover(): Promise<void> {
    const found = await this.devices.onDisk();
    for (const { driver, name } of found) this.options.attachments.use(attachedName(driver, name));
    this.releasing = this.releaseUnused(found);
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.drivers.stop();
    await this.releasing;
  }

  private async releaseUnused(found: readonly { driver: string; name: string }[]): Promise<void> {
    const { signal } = this.lifetime;
    for (const { driver, name } of found) {
      try {
        const known = await this.drivers.find(driver);
        await this.locks.run(`${driver}/${name}`, () => this.devices.release(known, { name, uid: "", signal }), signal);
      } catch (error) {
        if (signal.aborted) return;
        const text = `cannot unmount the device of flexVolume ${name}: ${messageOf(error)}`;
        this.options.log.warn({ err: error, driver, volume: name }, text);
      }
    }
  }

  private async mount(driver: FlexDriver, request: FlexRequest): Promise<void> {
    const { pod, name, readOnly, signal } = request;
    const { uid } = pod.metadata;
    const { target, meta, ready } = this.places(uid, driver.name, name);
    // Before the device is used: a pod with the directory counts as a user of it.
    await paths.makeMountPoint(target);
    try {
      if (driver.capabilities.attach) {
        const device = await this.devices.attach(driver, request);
        await this.devices.mount(driver, request, device);
      }
      if (!(await isMountPoint(target))) await this.mountForPod(driver, request, target);
    } catch (error) {
      await this.undo(driver, request, target);
      throw error;
    }
    if (!readOnly && driver.capabilities.fsGroup) {
      const plugin = flexPlugin(driver.name);
      await setOwnership(this.options.ownership, { pod, directory: target, plugin, mayHang: true, signal });
    }
    await mkdir(meta, { recursive: true, mode: paths.POD_DIRECTORY_MODE });
    await (await open(ready, "w", 0o640)).close();
  }

  private async mountForPod(driver: FlexDriver, request: FlexRequest, target: string): Promise<void> {
    const { name, readOnly, signal } = request;
    const options = optionsFor(request, await mountOptions(request, this.options.cluster));
    if ((await driver.callIfSupported("mount", [target, options], { signal })) !== undefined) return;
    const source = this.devices.target(driver.name, name);
    await mountByProgram({ source, target, type: "", options: ["bind", ...(readOnly ? ["ro"] : [])] }, signal);
  }

  /**
   * After a failed mount, as upstream: removes the empty directory. If a mount exists all the same, the teardown
   * removes it.
   */
  private async undo(driver: FlexDriver, { name, pod }: FlexRequest, target: string): Promise<void> {
    const { log } = this.options;
    try {
      if (await isMountPoint(target)) return;
      await rmdir(target);
      await this.devices.release(driver, { name, uid: pod.metadata.uid, signal: this.lifetime.signal });
    } catch (error) {
      log.warn({ err: error, volume: name }, `cannot undo the failed mount of flexVolume ${name}: ${messageOf(error)}`);
    }
  }

  /** undefined: the driver was removed, and nothing is mounted. */
  private async findForTearDown(driver: string, target: string): Promise<FlexDriver | undefined> {
    try {
      return await this.drivers.find(driver);
    } catch (error) {
      // A directory of a plugin that this kubelet does not know is removed, unless something is mounted there.
      const inTree = driver.startsWith("kubernetes.io/");
      if (error instanceof FlexSpecError) return undefined;
      if (error instanceof FlexDriverMissingError && (inTree || !(await isMountPoint(target)))) return undefined;
      throw error;
    }
  }

  private places(uid: PodUid, driver: string, name: string) {
    const { rootDir } = this.options;
    const meta = metaDirectory(rootDir, uid, flexPlugin(driver), name);
    return {
      target: volumeDirectory(rootDir, uid, flexPlugin(driver), name),
      meta,
      ready: `${meta}/${paths.READY_FILE}`,
    };
  }
}

/** The driver may have removed the directory. Files that it left are not deleted. */
async function removeLeft(target: string): Promise<void> {
  try {
    await rmdir(target);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    if (errorCode(error) !== "ENOTEMPTY") throw error;
    throw new VolumeError(`${target} is unmounted and has files: the driver has to remove them, or an operator`, {
      cause: error,
    });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
