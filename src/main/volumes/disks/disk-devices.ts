// Network disks that pods have as block devices (volumeMode Block). The pod's directory has a link, and
// plugins/<plugin>/volumeDevices/<place> has one for each pod that uses the disk.
// Invariant: the links exist while the pod may use the device; the disk is detached after the removal of the last link
// of its place.

import { mkdir, realpath, rm, rmdir } from "node:fs/promises";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import { devicesDirectory, pluginDirectoryName } from "../../../shared/kubernetes/api/pod-paths.js";
import { podUid, type PodUid } from "../../../shared/kubernetes/identifiers.js";
import { link, linkTo } from "../device-links.js";
import { holdDevice, releaseLoops } from "../held-device.js";
import { measured } from "../measured.js";
import * as paths from "../paths.js";
import type { DevicePlace } from "../place.js";
import { removeEmpty } from "../remove-tree.js";
import { exists } from "./device-mapper.js";
import type { DiskVolumesOptions } from "./disk-volumes.js";
import { type DiskKind, type DiskRequest } from "./disk.js";
import { placesBelow } from "./places.js";

export class DiskDevices {
  private readonly locks = new KeyedSerializer();
  /** By place: maps under way. */
  private readonly inHand = new Map<string, number>();
  /** By place: its names in volumesInUse. */
  private readonly namesOf = new Map<string, Set<string>>();

  constructor(
    private readonly kind: DiskKind,
    private readonly options: DiskVolumesOptions,
  ) {}

  /** Idempotent. @throws DiskAttachError, VolumeError, ProgramError, or the signal's reason */
  async map(request: Omit<DiskRequest, "fsType" | "mountOptions" | "accessModes" | "podVolume">): Promise<DevicePlace> {
    const { pod, name, disk, readOnly, signal } = request;
    const { uid } = pod.metadata;
    const { attachments, ownership } = this.options;
    const unique = `${this.kind.plugin}/${disk.uniqueName}`;
    const directory = this.directory(disk.place);
    const [podLink, globalLink] = [`${this.linksOf(uid)}/${name}`, `${directory}/${uid}`];
    this.use(disk.place, unique);
    const place: DevicePlace = { devicePath: podLink, volumeName: name, readOnly: readOnly ? true : undefined };
    if ((await linkTo(podLink)) !== undefined && (await linkTo(globalLink)) !== undefined) return place;
    this.inHand.set(disk.place, (this.inHand.get(disk.place) ?? 0) + 1);
    let mapped = false;
    try {
      await mkdir(directory, { recursive: true, mode: paths.POD_DIRECTORY_MODE });
      if (attachments.byController) {
        const doer = { plugin: this.kind.plugin, block: true };
        await measured(ownership, "verify_controller_attached_volume", doer, () => attachments.waitFor(unique, signal));
      }
      const map = async (): Promise<void> => {
        await mkdir(directory, { recursive: true, mode: paths.POD_DIRECTORY_MODE });
        const device = await realpath(await disk.attach(directory, signal));
        await mkdir(this.linksOf(uid), { recursive: true, mode: paths.POD_DIRECTORY_MODE });
        await link(device, globalLink);
        await holdDevice(device, signal);
        await link(device, podLink);
      };
      await this.locks.run(disk.place, map, signal);
      mapped = true;
    } finally {
      this.inHand.set(disk.place, (this.inHand.get(disk.place) ?? 1) - 1);
      if (!mapped) {
        await rm(globalLink, { force: true });
        await this.releaseOrLog(disk.place);
      }
    }
    return place;
  }

  /** Idempotent. @throws ProgramError, DiskAttachError */
  async unmap(uid: PodUid, name: string): Promise<void> {
    const podLink = `${this.linksOf(uid)}/${name}`;
    const device = await linkTo(podLink);
    for (const place of await this.places()) {
      const globalLink = `${this.directory(place)}/${uid}`;
      if (device === undefined || (await linkTo(globalLink)) !== device) continue;
      await this.locks.run(place, async () => {
        if ((await usersIn(this.directory(place))).every((user) => user === uid)) await releaseLoops(device);
        await rm(globalLink, { force: true });
        await this.release(place, device);
      });
    }
    await rm(podLink, { force: true });
    await removeEmpty(this.linksOf(uid));
  }

  /** Places that an earlier kubelet left count as used. Resolves to a function that detaches those without a pod. */
  async recover(): Promise<(signal: AbortSignal) => Promise<void>> {
    const places = await this.places();
    for (const place of places) this.use(place, this.nameOf(place));
    return async (signal) => {
      for (const place of places) {
        if (signal.aborted) return;
        await this.releaseOrLog(place);
      }
    };
  }

  private async releaseOrLog(place: string): Promise<void> {
    try {
      await this.locks.run(place, () => this.release(place, undefined));
    } catch (error) {
      this.options.log.warn({ err: error, disk: place }, `cannot detach disk ${place}: ${messageOf(error)}`);
    }
  }

  /** The caller holds the lock. `device` undefined: not known any more, or never attached. */
  private async release(place: string, device: string | undefined): Promise<void> {
    const directory = this.directory(place);
    if ((this.inHand.get(place) ?? 0) > 0) return;
    if (!(await exists(directory)) || (await usersIn(directory)).length > 0) return;
    const { attachments, ownership } = this.options;
    const isMounted = await exists(`${this.root()}/${place}`);
    await measured(ownership, "unmount_device", { plugin: this.kind.plugin, block: true }, async () => {
      await this.kind.detach({ place, directory, device: device ?? "", keep: isMounted });
      await rmdir(directory);
    });
    if (isMounted) return;
    for (const name of this.namesOf.get(place) ?? []) attachments.forget(name);
    this.namesOf.delete(place);
  }

  private use(place: string, unique: string): void {
    this.namesOf.set(place, (this.namesOf.get(place) ?? new Set()).add(unique));
    this.options.attachments.use(unique);
  }

  private places(): Promise<string[]> {
    return placesBelow(`${this.root()}/volumeDevices`, this.kind);
  }
  private nameOf(place: string): string {
    return `${this.kind.plugin}/${this.kind.uniqueNameOf(place) ?? ""}`;
  }
  private root(): string {
    return `${this.options.rootDir}/plugins/${this.kind.plugin}`;
  }
  private directory(place: string): string {
    return `${this.root()}/volumeDevices/${place}`;
  }
  private linksOf(uid: PodUid): string {
    return `${devicesDirectory(this.options.rootDir, uid)}/${pluginDirectoryName(this.kind.plugin)}`;
  }
}

/** Pods with a link. */
async function usersIn(directory: string): Promise<PodUid[]> {
  const names = (await paths.namesIn(directory)).map(podUid);
  const links = await Promise.all(names.map((name) => linkTo(`${directory}/${name}`)));
  return names.filter((_name, index) => links[index] !== undefined);
}
