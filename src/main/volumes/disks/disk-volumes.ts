// Network disks of this node: each is mounted once, below plugins/<plugin>, and from there for each pod.
// Invariant: the directory of a disk is there from before the disk is attached until it is detached; a disk is
// unmounted and detached when the mount table has no other mount of it, and only then. One operation at a time per
// disk.

import { rmdir } from "node:fs/promises";
import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import { readMounts, type Mount } from "../../../shared/io/fs/mountinfo.js";
import { volumeDirectory } from "../../../shared/kubernetes/api/pod-paths.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { NodeAttachments } from "../attachments/node-attachments.js";
import { prepareDevice } from "../file-system/format.js";
import { MountedVolumes } from "../file-system/mounted-volume.js";
import { mountByProgram } from "../file-system/program-mount.js";
import { setOwnership, type OwnershipDeps } from "../fs-group/set-ownership.js";
import { measured } from "../measured.js";
import { asMountPoint, isMountPoint, unmount } from "../mounts.js";
import * as paths from "../paths.js";
import type { HostPlace } from "../place.js";
import { contextOption, isRelabelled, type SELinuxMounts } from "../se-linux-mounts.js";
import { VolumeError } from "../volume-error.js";
import { exists } from "./device-mapper.js";
import { type DiskKind, type DiskRequest } from "./disk.js";
import { placesBelow } from "./places.js";

const DEFAULT_FS_TYPE = "ext4";

export interface DiskVolumesOptions {
  rootDir: string;
  attachments: NodeAttachments;
  ownership: OwnershipDeps;
  /** undefined without SELinux. */
  seLinux: SELinuxMounts | undefined;
  log: Logger;
}

export class DiskVolumes {
  private readonly mounted: MountedVolumes;
  private readonly locks = new KeyedSerializer();
  /** By the pod's mount point: the place of its disk, as far as this process knows. */
  private readonly placeOf = new Map<string, string>();
  /** By place: its names in volumesInUse. A target's port may be left out in one of them. */
  private readonly namesOf = new Map<string, Set<string>>();
  /** By place: set-ups under way. */
  private readonly inHand = new Map<string, number>();
  private releasing: Promise<void> | undefined;
  private readonly lifetime = new Lifetime();

  constructor(
    private readonly kind: DiskKind,
    private readonly options: DiskVolumesOptions,
  ) {
    this.mounted = new MountedVolumes({ rootDir: options.rootDir, plugin: kind.plugin, kind: "bind" });
  }

  /** Idempotent. @throws DiskAttachError, VolumeError, ProgramError, or the signal's reason */
  async setUp(request: DiskRequest): Promise<HostPlace> {
    const { pod, name, disk, readOnly, signal } = request;
    const { plugin } = this.kind;
    const target = this.target(pod.metadata.uid, name);
    const place: HostPlace = { hostPath: target, volumeName: name, readOnly: readOnly ? true : undefined };
    const { attachments, ownership } = this.options;
    const unique = `${plugin}/${disk.uniqueName}`;
    this.use(disk.place, unique);
    const context = this.claim(request);
    if (await isMountPoint(target)) return this.labelled(place);
    this.placeOf.set(target, disk.place);
    this.inHand.set(disk.place, (this.inHand.get(disk.place) ?? 0) + 1);
    let mounted = false;
    try {
      await paths.makeMountPoint(this.directory(disk.place));
      if (attachments.byController) {
        const wait = (): Promise<string> => attachments.waitFor(unique, signal);
        await measured(ownership, "verify_controller_attached_volume", { plugin }, wait);
      }
      await this.locks.run(disk.place, () => this.mount(request, context), signal);
      mounted = true;
    } finally {
      this.inHand.set(disk.place, (this.inHand.get(disk.place) ?? 1) - 1);
      if (!mounted) {
        this.options.seLinux?.release(`${pod.metadata.uid}/${name}`);
        await this.releaseAfterFailure(disk.place, pod.metadata.uid);
      }
    }
    if (!readOnly) await setOwnership(ownership, { pod, directory: target, plugin, mayHang: true, signal });
    return this.labelled(place);
  }

  /** @throws VolumeError */
  private claim({ pod, name, disk, accessModes, podVolume: volume }: DiskRequest): string | undefined {
    const asked = { plugin: this.kind.plugin, supported: true, accessModes, pod, volume };
    return this.options.seLinux?.claim(this.unique(disk.place), `${pod.metadata.uid}/${name}`, asked);
  }

  /** One that is mounted with a label has it already. */
  private async labelled(place: HostPlace): Promise<HostPlace> {
    if (place.readOnly === true) return place;
    if (this.options.seLinux !== undefined && !(await isRelabelled(place.hostPath))) return place;
    return { ...place, relabel: true };
  }

  /** Idempotent. @throws VolumeError, ForeignMountError, ProgramError */
  async tearDown(uid: PodUid, name: string): Promise<void> {
    const target = this.target(uid, name);
    const found = await this.placesMountedAt(target);
    const known = this.placeOf.get(target);
    await this.mounted.tearDown(uid, name);
    for (const place of new Set([...found, ...(known === undefined ? [] : [known])])) {
      await this.locks.run(place, () => this.release(place, uid));
    }
    this.placeOf.delete(target);
    this.options.seLinux?.release(`${uid}/${name}`);
  }

  /**
   * Reads the disks that an earlier kubelet left: all are in use. Those that no pod uses are unmounted in the
   * background, and then `releaseDevices` runs.
   */
  async recover(releaseDevices: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const places = await this.places();
    for (const place of places) this.use(place, this.unique(place));
    this.releasing = this.releaseUnused(places).then(() => releaseDevices(this.lifetime.signal));
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.releasing;
  }

  private unique(place: string): string {
    return `${this.kind.plugin}/${this.kind.uniqueNameOf(place) ?? ""}`;
  }

  private async mount(request: DiskRequest, context: string | undefined): Promise<void> {
    const { pod, name, disk, fsType, readOnly, mountOptions, signal } = request;
    const { uid } = pod.metadata;
    const directory = this.directory(disk.place);
    await paths.makeMountPoint(directory);
    if (!(await isMountPoint(directory))) {
      const device = await disk.attach(directory, signal);
      signal.throwIfAborted();
      const type = fsType === undefined || fsType === "" ? DEFAULT_FS_TYPE : fsType;
      const found = await prepareDevice({ device, fsType: type, readOnly });
      signal.throwIfAborted();
      const options = [readOnly ? "ro" : "rw", "defaults", ...mountOptions, ...contextOption(context)];
      await mountByProgram({ source: device, target: directory, type, options }, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        if (found === type) throw error;
        const problem = `device ${device} has file system ${found}, but the volume requires ${type}: ${messageOf(error)}`;
        throw new VolumeError(problem, { cause: error });
      });
    }
    const options = [...(readOnly ? ["ro"] : []), ...mountOptions];
    await this.mounted.setUp({ uid, name, source: directory, options, signal });
  }

  private async releaseAfterFailure(place: string, uid: PodUid): Promise<void> {
    try {
      await this.locks.run(place, () => this.release(place, uid));
    } catch (error) {
      const text = `cannot detach disk ${place} after a failed mount: ${messageOf(error)}`;
      this.options.log.warn({ err: error, disk: place }, text);
    }
  }

  private use(place: string, unique: string): void {
    this.namesOf.set(place, (this.namesOf.get(place) ?? new Set()).add(unique));
    this.options.attachments.use(unique);
  }

  /** Unmounts and detaches the disk unless it is mounted anywhere else. The caller holds its lock. */
  private async release(place: string, uid: PodUid | ""): Promise<void> {
    const { ownership, attachments } = this.options;
    const directory = this.directory(place);
    if ((this.inHand.get(place) ?? 0) > 0 || !(await this.isThere(place))) return;
    const table = await readMounts();
    const own = await asMountPoint(directory);
    const mount = table.findLast(({ mountPoint }) => mountPoint === own);
    if (mount !== undefined && table.some((other) => other.mountPoint !== own && isSameDisk(other, mount))) return;
    const isDevice = await exists(`${this.root()}/volumeDevices/${place}`);
    await measured(ownership, "unmount_device", { plugin: this.kind.plugin }, async () => {
      if (mount !== undefined) await unmount(uid, directory);
      await this.kind.detach({ place, directory, device: mount?.source ?? "", keep: isDevice });
      await rmdir(directory).catch((error: unknown) => {
        if (errorCode(error) !== "ENOENT") throw error;
      });
    });
    // A pod may have arrived meanwhile; it mounts the disk again when it has the lock.
    if (isDevice || (this.inHand.get(place) ?? 0) > 0) return;
    this.inHand.delete(place);
    for (const name of this.namesOf.get(place) ?? []) attachments.forget(name);
    this.namesOf.delete(place);
  }

  private async releaseUnused(places: readonly string[]): Promise<void> {
    const { signal } = this.lifetime;
    for (const place of places) {
      try {
        await this.locks.run(place, () => this.release(place, ""), signal);
      } catch (error) {
        if (signal.aborted) return;
        this.options.log.warn({ err: error, disk: place }, `cannot detach disk ${place}: ${messageOf(error)}`);
      }
    }
  }

  /** Places of the disk that is mounted for the pod. */
  private async placesMountedAt(target: string): Promise<string[]> {
    const table = await readMounts();
    const at = await asMountPoint(target);
    const mount = table.findLast(({ mountPoint }) => mountPoint === at);
    if (mount === undefined) return [];
    const root = `${await asMountPoint(this.root())}/`;
    return table
      .filter((other) => other.mountPoint.startsWith(root) && isSameDisk(other, mount))
      .map(({ mountPoint }) => mountPoint.slice(root.length))
      .filter((place) => this.kind.uniqueNameOf(place) !== undefined);
  }

  private places(): Promise<string[]> {
    return placesBelow(this.root(), this.kind);
  }

  private async isThere(place: string): Promise<boolean> {
    const at = place.lastIndexOf("/");
    const parent = at < 0 ? this.root() : `${this.root()}/${place.slice(0, at)}`;
    return (await paths.namesIn(parent)).includes(place.slice(at + 1));
  }

  private root(): string {
    return `${this.options.rootDir}/plugins/${this.kind.plugin}`;
  }
  private directory(place: string): string {
    return `${this.root()}/${place}`;
  }
  private target(uid: PodUid, name: string): string {
    return volumeDirectory(this.options.rootDir, uid, this.kind.plugin, name);
  }
}

function isSameDisk(one: Mount, other: Mount): boolean {
  return one.source === other.source && one.fsType === other.fsType;
}
