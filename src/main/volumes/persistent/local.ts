// local: a directory of this node, mounted for the pod; or a device of this node, used as a block device or as the file
// system on it.
// Invariant: one operation at a time per volume. So no device is unmounted while another pod begins to use it.

import { constants } from "node:fs";
import { mkdir, readlink, rm, symlink } from "node:fs/promises";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { quote } from "../../../shared/base/text/quote.js";
import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import type { PersistentVolume } from "../../../shared/kubernetes/api/objects.js";
import { devicesDirectory, pluginDirectoryName } from "../../../shared/kubernetes/api/pod-paths.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { FileFacts } from "../../../shared/node/volume-calls/operations.js";
import type { EventRecorder, ObjectEvents } from "../../model/event-recorder.js";
import { FilesystemMismatchError } from "../file-system/format.js";
import { growFileSystem } from "../file-system/grow-file-system.js";
import { MountedVolumes } from "../file-system/mounted-volume.js";
import { setOwnership, type OwnershipDeps } from "../fs-group/set-ownership.js";
import * as paths from "../paths.js";
import type { DevicePlace, HostPlace } from "../place.js";
import { mountOptionsOf } from "../pv-annotations.js";
import { VolumeError } from "../volume-error.js";
import { LocalDevices } from "./local-devices.js";

export const LOCAL_PLUGIN = "kubernetes.io/local-volume";

const DEFAULT_FS_TYPE = "ext4";

export interface LocalRequest {
  pod: Pod;
  pv: PersistentVolume;
  readOnly: boolean;
  signal: AbortSignal;
}

export class LocalVolumes {
  private readonly mounted: MountedVolumes;
  private readonly devices: LocalDevices;
  /** By name of the volume. */
  private readonly locks = new KeyedSerializer();

  constructor(
    private readonly rootDir: string,
    private readonly ownership: OwnershipDeps,
    private readonly events: EventRecorder & ObjectEvents,
  ) {
    this.mounted = new MountedVolumes({ rootDir, plugin: LOCAL_PLUGIN, kind: "bind" });
    this.devices = new LocalDevices(rootDir, LOCAL_PLUGIN);
  }

  /** @throws VolumeError, ProgramError, or the signal's reason */
  setUp(request: LocalRequest): Promise<HostPlace> {
    const name = request.pv.metadata.name ?? "";
    return this.locks.run(name, () => this.setUpLocked(name, request), request.signal);
  }

  private async setUpLocked(name: string, { pod, pv, readOnly, signal }: LocalRequest): Promise<HostPlace> {
    const path = checkedPath(pv);
    const { uid } = pod.metadata;
    const stats = await this.ownership.calls.call("stat", { path }, { paths: [path] }, signal);
    const options = mountOptionsOf(pv);
    const asBind = [...(readOnly ? ["ro"] : []), ...options];
    let hostPath: string;
    if (isBlockDevice(stats)) {
      const fsType = pv.spec.local?.fsType ?? DEFAULT_FS_TYPE;
      const wanted = { name, device: path, fsType, readOnly, options };
      const source = await this.devices.mount(wanted, signal).catch((error: unknown) => {
        if (error instanceof FilesystemMismatchError) this.reportMismatch(pv, error);
        throw error;
      });
      try {
        hostPath = await this.mounted.setUp({ uid, name, source, options: asBind, signal });
      } catch (error) {
        await this.devices.release(uid, name);
        throw error;
      }
    } else if ((stats.mode & constants.S_IFMT) === constants.S_IFDIR) {
      hostPath = await this.mounted.setUp({ uid, name, source: path, options: asBind, signal });
    } else {
      throw new VolumeError(`local volume ${path} is neither a directory nor a block device`);
    }
    if (!readOnly) {
      await this.warnOfOtherGroup(pod, name, stats.gid);
      await setOwnership(this.ownership, { pod, directory: hostPath, plugin: LOCAL_PLUGIN, mayHang: true, signal });
    }
    return { hostPath, volumeName: name, ...(readOnly ? { readOnly: true } : { relabel: true }) };
  }

  /** Idempotent. @throws VolumeError, ForeignMountError, ProgramError */
  tearDown(uid: PodUid, name: string): Promise<void> {
    return this.locks.run(name, async () => {
      await this.mounted.tearDown(uid, name);
      await this.devices.release(uid, name);
    });
  }

  /** Unmounts devices that an earlier kubelet mounted and no pod uses. @throws VolumeError, ProgramError */
  async releaseUnused(): Promise<void> {
    for (const name of await this.devices.names()) {
      await this.locks.run(name, () => this.devices.release("", name));
    }
  }

  /**
   * Grows the file system of a device; a directory has what its own file system has. `mountPoint`: of a pod.
   * @throws VolumeError, ProgramError
   */
  grow(pv: PersistentVolume, mountPoint: string, signal: AbortSignal): Promise<void> {
    const device = checkedPath(pv);
    const work = async (): Promise<void> => {
      const stats = await this.ownership.calls.call("stat", { path: device }, { paths: [device] }, signal);
      if (isBlockDevice(stats)) await growFileSystem({ device, mountPoint });
    };
    return this.locks.run(pv.metadata.name ?? "", work, signal);
  }

  /** Idempotent: a link in the pod's directory. */
  async map({ pod, pv, readOnly, signal }: LocalRequest): Promise<DevicePlace> {
    const path = checkedPath(pv);
    const stats = await this.ownership.calls.call("stat", { path }, { paths: [path] }, signal);
    if (!isBlockDevice(stats)) throw new VolumeError(`local volume ${path} is no block device`);
    const directory = this.linksOf(pod.metadata.uid);
    const volumeName = pv.metadata.name ?? "";
    const devicePath = `${directory}/${volumeName}`;
    await mkdir(directory, { recursive: true, mode: paths.POD_DIRECTORY_MODE });
    const known = await readlink(devicePath).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    });
    if (known !== path) {
      await rm(devicePath, { force: true });
      await symlink(path, devicePath);
    }
    return { devicePath, volumeName, readOnly: readOnly ? true : undefined };
  }

  async unmap(uid: PodUid, name: string): Promise<void> {
    await rm(`${this.linksOf(uid)}/${name}`, { force: true });
  }

  private linksOf(uid: PodUid): string {
    return `${devicesDirectory(this.rootDir, uid)}/${pluginDirectoryName(LOCAL_PLUGIN)}`;
  }

  private reportMismatch({ metadata }: PersistentVolume, { message }: FilesystemMismatchError): void {
    const { name = "", uid = "" } = metadata;
    this.events.object(
      { kind: "PersistentVolume", apiVersion: "v1", name, uid },
      {
        type: "Warning",
        reason: "FailedMountOnFilesystemMismatch",
        message: `MountVolume failed for volume ${quote(name)} ${message}`,
      },
    );
  }

  /** Two pods with different groups take the files from each other. */
  private async warnOfOtherGroup(pod: Pod, name: string, group: number): Promise<void> {
    const { fsGroup } = pod.spec.securityContext ?? {};
    if (fsGroup === undefined || fsGroup === group) return;
    if (!(await this.devices.usersOf(name)).some((uid) => uid !== pod.metadata.uid)) return;
    const message =
      `The requested fsGroup is ${fsGroup}, but the volume ${name} has GID ${group}. ` +
      "The volume may not be shareable.";
    this.events.pod(pod, { type: "Warning", reason: "AlreadyMountedVolume", message });
  }
}

function checkedPath(pv: PersistentVolume): string {
  const path = pv.spec.local?.path ?? "";
  if (path.startsWith("/") && !path.split("/").includes("..")) return path;
  throw new VolumeError(`local volume path ${JSON.stringify(path)} is not an absolute path without '..'`);
}

const isBlockDevice = ({ mode }: FileFacts): boolean => (mode & constants.S_IFMT) === constants.S_IFBLK;
