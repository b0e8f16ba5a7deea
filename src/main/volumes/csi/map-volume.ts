// CSI volumes as block devices of pods: staged once per node, published once per pod. The pod's directory has a link to
// the device.
// Invariant: the mount records and the pod's link exist before the first call to the driver. The link is removed after
// the driver has undone everything. So a process that finds the link can undo the rest.

import { lstat, mkdir, rm } from "node:fs/promises";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { link, linkTo } from "../device-links.js";
import { holdDevice, releaseLoops } from "../held-device.js";
import { POD_DIRECTORY_MODE } from "../paths.js";
import type { DevicePlace } from "../place.js";
import { removeEmpty } from "../remove-tree.js";
import { VolumeError } from "../volume-error.js";
import { accessMode, blockCapability } from "./capability.js";
import type { CsiContext } from "./context.js";
import { csiPlugin, deviceKey, type CsiVolume } from "./csi-volume.js";
import { learnAttachable } from "./learn-attachable.js";
import type { UndoRequest } from "./mount-volume.js";
import * as paths from "./paths.js";
import { publish } from "./publish.js";
import type { Staging } from "./staging.js";
import { inStep } from "./step-error.js";
import { userKey } from "./users.js";
import { readVolData, recordVolume } from "./vol-data.js";
import { withDevice, type DeviceInHand } from "./with-device.js";
const SET_UP = "MapVolume.SetUpDevice";
const STEPS = { attach: "MapVolume.WaitForAttach", device: SET_UP, alone: SET_UP };
const MAP = "MapVolume.MapPodDevice";

export interface MapRequest {
  pod: Pod;
  volume: CsiVolume;
  signal: AbortSignal;
}

export class CsiMaps {
  private readonly mapped = new Set<string>();

  constructor(
    private readonly context: CsiContext,
    private readonly staging: Staging,
  ) {}

  /** Idempotent. Rejects with CsiStepError, VolumeError, ApiError, … or the signal's reason. */
  async map(request: MapRequest): Promise<DevicePlace> {
    const { pod, volume, signal } = request;
    const { uid } = pod.metadata;
    const user = userKey(uid, volume.spec);
    const places = this.places(uid, volume.spec);
    const place: DevicePlace = {
      devicePath: places.podLink,
      volumeName: volume.spec,
      readOnly: volume.readOnly ? true : undefined,
    };
    learnAttachable(this.context, volume);
    if (this.mapped.has(user)) return place;
    if ((await linkTo(places.podLink)) && (await linkTo(places.globalLink)) && (await isThere(places.publish))) {
      // An earlier kubelet's work: the global link is made last.
      this.mapped.add(user);
      return place;
    }
    const wanted = { pod, volume, user, block: volume.spec, steps: STEPS, signal };
    await withDevice(this.context, this.staging, wanted, async (hand, onDisk) => {
      for (const directory of [places.data, places.publishParent, places.globalMap, places.podMap]) {
        await mkdir(directory, { recursive: true, mode: POD_DIRECTORY_MODE });
      }
      await recordVolume(places.data, volume, this.context.nodeName);
      await link(places.publish, places.podLink);
      onDisk(true);
      await this.publish(request, hand, places.publish);
      await inStep(MAP, signal, () => holdDevice(places.publish, signal));
      await link(places.publish, places.globalLink);
    });
    this.mapped.add(user);
    const emit = (message: string): void =>
      this.context.events.pod(pod, { type: "Normal", reason: "SuccessfulMountVolume", message });
    emit(`${MAP} succeeded for volume ${quote(volume.name)} globalMapPath ${quote(places.globalMap)}`);
    emit(`${MAP} succeeded for volume ${quote(volume.name)} volumeMapPath ${quote(places.podMap)}`);
    return place;
  }

  /** Idempotent. @throws PluginCallError, VolumeError */
  async unmap({ uid, spec, signal, onPluginKnown }: UndoRequest): Promise<void> {
    const places = this.places(uid, spec);
    const data = await readVolData(places.data);
    const user = userKey(uid, spec);
    if (data === undefined) {
      if (await isThere(places.publish)) {
        throw new VolumeError(`the records of device ${spec} in ${places.data} are missing: unpublish it manually`);
      }
      await rm(places.podLink, { force: true });
      return;
    }
    const key = deviceKey({ driver: data.driverName, handle: data.volumeHandle });
    const migrated = this.context.users.get(key)?.migrated === true;
    onPluginKnown?.({ plugin: csiPlugin(data.driverName), migrated, block: true });
    const { node } = await this.context.drivers.get(data.driverName, signal);
    const undo = async (): Promise<void> => {
      await rm(places.globalLink, { force: true });
      await releaseLoops(places.publish, signal);
      await node.unpublish({ volumeId: data.volumeHandle, targetPath: places.publish }, signal);
      if (await isThere(places.publish)) {
        throw new VolumeError(`driver ${data.driverName} unpublished ${key}, but ${places.publish} is still there`);
      }
      this.mapped.delete(user);
      await rm(places.podLink, { force: true });
      await removeEmpty(places.podMap);
    };
    await this.context.locks.run(key, undo, signal);
    this.staging.release(key, user);
  }

  private async publish({ pod, volume, signal }: MapRequest, hand: DeviceInHand, target: string): Promise<void> {
    const { node, device, publishContext } = hand;
    const capabilities = await inStep(STEPS.device, signal, () => node.capabilities(signal));
    const capability = blockCapability(accessMode(volume.accessModes, capabilities));
    if (device === undefined) throw new VolumeError("an ephemeral inline volume cannot be a block device");
    const request = { volume, node, device, capability, publishContext };
    const staged = await inStep(STEPS.device, signal, () => this.staging.stage(request, signal));
    await inStep(STEPS.device, signal, async () => {
      await publish(this.context, hand, { pod, volume, capability, staged, target, signal, first: true });
      if (!(await isThere(target))) throw new VolumeError(`driver ${volume.driver} created nothing at ${target}`);
    });
  }

  private places(uid: PodUid, spec: string) {
    const { rootDir } = this.context;
    return { ...paths.blockPaths(rootDir, spec), ...paths.blockPodPaths(rootDir, spec, uid) };
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return false;
    throw error;
  }
}
