// local: a directory of this node, mounted for the pod, or a device of this node, given as such.
// A device that is to be used as a file system is not supported: it would have to be formatted first.
import { constants } from "node:fs";
import { mkdir, readlink, rm, symlink } from "node:fs/promises";
import type { PersistentVolume } from "../../../shared/api/objects.js";
import type { Pod } from "../../../shared/api/pod.js";
import type { FileFacts } from "../../../shared/volume-calls/operations.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { setOwnership, type OwnershipDeps } from "../fs-group/set-ownership.js";
import * as paths from "../paths.js";
import type { DevicePlace, HostPlace } from "../place.js";
import { mountOptionsOf } from "./pv-annotations.js";
import { MountedVolumes } from "./mounted-volume.js";
import { errorCode } from "../../../shared/errors/error-code.js";

export const LOCAL_PLUGIN = "kubernetes.io/local-volume";

/** The path of a local volume is not what its mode needs. */
class LocalVolumeError extends Error {
  override readonly name = "LocalVolumeError";
}

export interface LocalRequest {
  pod: Pod;
  pv: PersistentVolume;
  readOnly: boolean;
  signal: AbortSignal;
}

export class LocalVolumes {
  private readonly mounted: MountedVolumes;

  constructor(
    private readonly rootDir: string,
    private readonly ownership: OwnershipDeps,
    private readonly events: EventRecorder,
  ) {
    this.mounted = new MountedVolumes({ rootDir, plugin: LOCAL_PLUGIN, kind: "bind" });
  }

  async setUp({ pod, pv, readOnly, signal }: LocalRequest): Promise<HostPlace> {
    const path = checkedPath(pv);
    const { uid } = pod.metadata;
    const name = pv.metadata.name ?? "";
    const stats = await this.ownership.calls.call("stat", { path }, { paths: [path] }, signal);
    if (isBlockDevice(stats)) {
      throw new LocalVolumeError(
        `local volume ${path} is a device: give it volumeMode Block, or mount its file system on the node and name that directory`,
      );
    }
    if ((stats.mode & constants.S_IFMT) !== constants.S_IFDIR)
      throw new LocalVolumeError(`local volume ${path} is neither a directory nor a device`);
    const options = [...(readOnly ? ["ro"] : []), ...mountOptionsOf(pv)];
    const hostPath = await this.mounted.setUp({ uid, name, source: path, options, signal });
    if (!readOnly) {
      await this.warnOfOtherGroup(pod, pv, stats.gid);
      await setOwnership(this.ownership, { pod, directory: hostPath, plugin: LOCAL_PLUGIN, mayHang: true, signal });
    }
    return { hostPath, volumeName: name, ...(readOnly ? { readOnly: true } : { relabel: true }) };
  }

  tearDown(uid: string, name: string): Promise<void> {
    return this.mounted.tearDown(uid, name);
  }

  /** Idempotent: a link in the pod's directory. */
  async map({ pod, pv, readOnly, signal }: LocalRequest): Promise<DevicePlace> {
    const path = checkedPath(pv);
    const stats = await this.ownership.calls.call("stat", { path }, { paths: [path] }, signal);
    if (!isBlockDevice(stats)) throw new LocalVolumeError(`local volume ${path} is no block device`);
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
    return { devicePath, volumeName, ...(readOnly ? { readOnly: true } : {}) };
  }

  async unmap(uid: string, name: string): Promise<void> {
    await rm(`${this.linksOf(uid)}/${name}`, { force: true });
  }

  private linksOf(uid: string): string {
    return `${paths.devicesDirectory(this.rootDir, uid)}/${paths.pluginDirectoryName(LOCAL_PLUGIN)}`;
  }

  /** Two pods with different groups take the files from each other. */
  private async warnOfOtherGroup(pod: Pod, pv: PersistentVolume, group: number): Promise<void> {
    const { fsGroup } = pod.spec.securityContext ?? {};
    const name = pv.metadata.name ?? "";
    if (fsGroup === undefined || fsGroup === group) return;
    for (const uid of await paths.podUidsIn(this.rootDir)) {
      if (uid === pod.metadata.uid) continue;
      // By its name in the directory above: what is mounted there may not answer.
      const directory = `${paths.volumesDirectory(this.rootDir, uid)}/${paths.pluginDirectoryName(LOCAL_PLUGIN)}`;
      if (!(await paths.namesIn(directory)).includes(name)) continue;
      const message =
        `The requested fsGroup is ${fsGroup}, but the volume ${name} has GID ${group}. ` +
        "The volume may not be shareable.";
      this.events.pod(pod, { type: "Warning", reason: "AlreadyMountedVolume", message });
      return;
    }
  }
}

function checkedPath(pv: PersistentVolume): string {
  const path = pv.spec.local?.path ?? "";
  if (path.startsWith("/") && !path.split("/").includes("..")) return path;
  throw new LocalVolumeError(`local volume path ${JSON.stringify(path)} is not an absolute path without '..'`);
}

const isBlockDevice = ({ mode }: FileFacts): boolean => (mode & constants.S_IFMT) === constants.S_IFBLK;
