// CSI volumes as file systems of pods: staged once per node, published once per pod.
// Invariant: vol_data.json is on disk before the first call to the driver, until the driver has undone everything. A
// published volume stays published across restarts of the kubelet. Nothing is deleted while it is mounted.

import { mkdir, open, stat } from "node:fs/promises";
import { CSI_MOUNT, metaDirectory } from "../../../shared/kubernetes/api/pod-paths.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { setOwnership } from "../fs-group/set-ownership.js";
import { isMountPoint } from "../mounts.js";
import { POD_DIRECTORY_MODE, READY_FILE } from "../paths.js";
import type { HostPlace } from "../place.js";
import type { OnPluginKnown } from "../plugin.js";
import { removeTree } from "../remove-tree.js";
import { contextOption, isRelabelled } from "../se-linux-mounts.js";
import { VolumeError } from "../volume-error.js";
import { accessMode, mountCapability } from "./capability.js";
import type { CsiContext } from "./context.js";
import { csiPlugin, deviceKey, type CsiVolume } from "./csi-volume.js";
import type { DriverSpec } from "./driver-objects.js";
import { learnAttachable } from "./learn-attachable.js";
import { CAPABILITY } from "./node-port.js";
import * as paths from "./paths.js";
import { publish } from "./publish.js";
import type { Staging } from "./staging.js";
import { inStep, CsiStepError } from "./step-error.js";
import { userKey } from "./users.js";
import { readVolData, recordVolume, removeVolData } from "./vol-data.js";
import { withDevice, type DeviceInHand } from "./with-device.js";

const SET_UP = "MountVolume.SetUp";
const STEPS = { attach: "MountVolume.WaitForAttach", device: "MountVolume.MountDevice", alone: SET_UP };

export interface MountRequest {
  pod: Pod;
  volume: CsiVolume;
  /** As the pod names it. */
  podVolume?: string;
  signal: AbortSignal;
}

/** Names the mount or device of one volume of one pod; what there is to undo is read from disk. */
export interface UndoRequest {
  uid: PodUid;
  spec: string;
  signal: AbortSignal;
  onPluginKnown: OnPluginKnown | undefined;
}

export class CsiMounts {
  /** Volumes that this process has published, or found published. */
  private readonly published = new Set<string>();
  /** SELinux labels by user of the volume. Only on nodes with SELinux. */
  private readonly relabel = new Map<string, boolean>();

  constructor(
    private readonly context: CsiContext,
    private readonly staging: Staging,
  ) {}

  /** Idempotent. Rejects with CsiStepError, VolumeError, ApiError, … or the signal's reason. */
  async setUp(request: MountRequest): Promise<HostPlace> {
    const { pod, volume, signal } = request;
    const user = userKey(pod.metadata.uid, volume.spec);
    const places = this.places(pod.metadata.uid, volume.spec);
    const place: HostPlace = {
      hostPath: places.target,
      volumeName: volume.spec,
      readOnly: volume.readOnly ? true : undefined,
    };
    learnAttachable(this.context, volume);
    if (this.published.has(user)) return this.labelled(place, user);
    if ((await exists(places.ready)) && (await isMountPoint(places.target))) {
      // An earlier kubelet's work. Not even its driver need be there.
      this.published.add(user);
      return this.labelled(place, user);
    }
    await withDevice(this.context, this.staging, { pod, volume, user, steps: STEPS, signal }, async (hand, onDisk) => {
      const asked = (await readVolData(places.directory)) !== undefined;
      await mkdir(places.directory, { recursive: true, mode: POD_DIRECTORY_MODE });
      await recordVolume(places.directory, volume, this.context.nodeName);
      onDisk(true);
      try {
        await this.publish(request, hand, true);
      } catch (error) {
        // The driver refused NodeStageVolume, so it never published the volume: do not call NodeUnpublishVolume.
        if (!asked && hand.device?.staged === false && isStagingRefused(error)) {
          await removeVolData(places.directory);
          await removeTree(places.directory);
          onDisk(false);
        }
        throw error;
      }
      await mkdir(places.meta, { recursive: true, mode: POD_DIRECTORY_MODE });
      await (await open(places.ready, "w", 0o640)).close();
    });
    this.published.add(user);
    return this.labelled(place, user);
  }

  /** A file system that keeps labels per file can be relabelled; one that is mounted with a label has it already. */
  private async labelled(place: HostPlace, user: string): Promise<HostPlace> {
    if (this.context.seLinux === undefined || place.readOnly === true) return place;
    let relabel = this.relabel.get(user);
    if (relabel === undefined) {
      relabel = await isRelabelled(place.hostPath);
      this.relabel.set(user, relabel);
    }
    return relabel ? { ...place, relabel: true } : place;
  }

  /** Publishes once more, for drivers that want the pod's tokens fresh (requiresRepublish). */
  async republish(request: MountRequest): Promise<void> {
    const { pod, volume, signal } = request;
    const user = userKey(pod.metadata.uid, volume.spec);
    const spec = await this.context.objects.get(volume.driver);
    if (spec?.requiresRepublish !== true || !this.published.has(user)) return;
    await withDevice(this.context, this.staging, { pod, volume, user, steps: STEPS, signal }, async (hand) => {
      // Torn down while this waited for its turn.
      if (this.published.has(user)) await this.publish(request, hand, false);
    });
  }

  /** Idempotent. @throws PluginCallError, VolumeError */
  async tearDown({ uid, spec, signal, onPluginKnown }: UndoRequest): Promise<void> {
    const places = this.places(uid, spec);
    const data = await readVolData(places.directory);
    const user = userKey(uid, spec);
    if (data === undefined) {
      // No driver was ever called, or its calls are undone. A mount in there stops the removal.
      await removeTree(places.directory);
      await removeTree(places.meta);
      this.context.seLinux?.release(user);
      return;
    }
    const { driverName: driver, volumeHandle: handle } = data;
    const key = deviceKey({ driver, handle });
    onPluginKnown?.({ plugin: csiPlugin(driver), migrated: this.context.users.get(key)?.migrated === true });
    const { node } = await this.context.drivers.get(driver, signal);
    const undo = async (): Promise<void> => {
      await node.unpublish({ volumeId: handle, targetPath: places.target }, signal);
      if (await isMountPoint(places.target)) {
        throw new VolumeError(`driver ${driver} unpublished ${key}, but ${places.target} is still mounted`);
      }
      this.published.delete(user);
      this.relabel.delete(user);
      this.context.seLinux?.release(user);
      await removeTree(places.target);
      await removeTree(places.meta);
      await removeVolData(places.directory);
      await removeTree(places.directory);
    };
    await this.context.locks.run(key, undo, signal);
    this.staging.release(key, user);
  }

  private async publish(request: MountRequest, hand: DeviceInHand, first: boolean): Promise<void> {
    const { pod, volume, signal } = request;
    const { spec, node, device, publishContext } = hand;
    const { context } = this;
    const { target } = this.places(pod.metadata.uid, volume.spec);
    const capabilities = await inStep(STEPS.device, signal, () => node.capabilities(signal));
    const { fsGroup } = pod.spec.securityContext ?? {};
    const driverSetsGroup = capabilities.has(CAPABILITY.VOLUME_MOUNT_GROUP);
    const { accessModes } = volume;
    const seLinux = context.seLinux?.claim(deviceKey(volume), userKey(pod.metadata.uid, volume.spec), {
      plugin: `kubernetes.io/csi/${volume.driver}`,
      supported: spec?.seLinuxMount === true,
      accessModes,
      pod,
      volume: request.podVolume,
    });
    const capability = mountCapability(accessMode(volume.accessModes, capabilities), {
      fsType: volume.fsType,
      mountFlags: [...volume.mountOptions, ...contextOption(seLinux)],
      group: driverSetsGroup ? fsGroup : undefined,
    });
    let staged = "";
    if (device !== undefined) {
      const seLinuxNote = seLinux === undefined ? {} : { seLinuxMountContext: seLinux };
      const request = { volume, node, device, capability, publishContext, ...seLinuxNote };
      staged = await inStep(STEPS.device, signal, () => this.staging.stage(request, signal));
    }
    await inStep(SET_UP, signal, async () => {
      await publish(context, hand, { pod, volume, capability, staged, target, signal, first });
      if (!first || driverSetsGroup || !takesFsGroup(spec, volume)) return;
      await setOwnership(context.ownership, {
        pod,
        directory: target,
        plugin: csiPlugin(volume.driver),
        mayHang: true,
        signal,
      });
    });
  }

  private places(uid: PodUid, spec: string) {
    const { rootDir } = this.context;
    const directory = paths.publishDirectory(rootDir, uid, spec);
    const meta = metaDirectory(rootDir, uid, paths.CSI_PLUGIN, spec);
    return { directory, target: `${directory}/${CSI_MOUNT}`, meta, ready: `${meta}/${READY_FILE}` };
  }
}

/** Whether the volume's files get the pod's fsGroup, by the driver's fsGroupPolicy. @internal */
export function takesFsGroup(spec: DriverSpec | undefined, volume: CsiVolume): boolean {
  if (volume.readOnly) return false;
  switch (spec?.fsGroupPolicy ?? "ReadWriteOnceWithFSType") {
    case "None":
      return false;
    case "File":
      return true;
    case "ReadWriteOnceWithFSType":
      return (
        volume.fsType !== "" &&
        volume.accessModes.some((mode) => mode === "ReadWriteOnce" || mode === "ReadWriteOncePod")
      );
  }
}

function isStagingRefused(error: unknown): boolean {
  return error instanceof CsiStepError && error.step === STEPS.device;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
