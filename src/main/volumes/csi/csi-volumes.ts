// CSI volumes of this node: one object for all that is staged, published and mapped. Loaded with the first pod that wants
// such a volume, or the first one that an earlier kubelet left.
import { detach } from "./attach.js";
import { csiContext, type CsiContext, type CsiOptions, readSecret } from "./context.js";
import { CsiMaps, type MapRequest } from "./map-volume.js";
import { CsiMounts, type MountRequest } from "./mount-volume.js";
import { Staging } from "./staging.js";
import { type CsiVolume, deviceKey } from "./csi-volume.js";
import type { VolumeUsage } from "../volume-usage.js";
import type { DevicePlace, HostPlace } from "../place.js";
import type { DoneBy } from "../plugin.js";
import { accessMode, blockCapability, mountCapability } from "./capability.js";
import { CAPABILITY } from "./node-port.js";
import { VolumeUsage_Unit } from "../../../shared/plugins/gen/csi.v1.js";

export class CsiVolumes {
  readonly context: CsiContext;
  private readonly staging: Staging;
  private readonly mounts: CsiMounts;
  private readonly maps: CsiMaps;
  private readonly ended = new AbortController();
  private loading: Promise<void> | undefined;

  constructor(options: CsiOptions) {
    const context = csiContext(options);
    this.context = context;
    this.staging = new Staging(context, async (device) => {
      if (!context.controllerAttaches && device.attachable !== false) {
        await detach(context, device, this.ended.signal);
      }
      context.users.forgetUnused(device);
      context.onInUse();
    });
    this.mounts = new CsiMounts(context, this.staging);
    this.maps = new CsiMaps(context, this.staging);
  }

  /** Reads the volumes of the previous kubelet process from disk; unstages those that no pod uses. A failure is not cached. */
  load(): Promise<void> {
    this.loading ??= this.context.users.load(this.context.rootDir).then(
      () => {
        this.staging.releaseUnused();
        this.context.onInUse();
      },
      (error: unknown) => {
        this.loading = undefined;
        throw error;
      },
    );
    return this.loading;
  }

  async setUpMount(request: MountRequest): Promise<HostPlace> {
    await this.load();
    return this.mounts.setUp(request);
  }

  async republish(request: MountRequest): Promise<void> {
    await this.load();
    return this.mounts.republish(request);
  }

  async tearDownMount(uid: string, spec: string, doneBy?: DoneBy): Promise<void> {
    await this.load();
    return this.mounts.tearDown({ uid, spec, signal: this.ended.signal, doneBy });
  }

  async map(request: MapRequest): Promise<DevicePlace> {
    await this.load();
    return this.maps.map(request);
  }

  async unmap(uid: string, spec: string, doneBy?: DoneBy): Promise<void> {
    await this.load();
    return this.maps.unmap({ uid, spec, signal: this.ended.signal, doneBy });
  }

  /** False: the driver has nothing to do on nodes when a volume grows. */
  canExpand(volume: CsiVolume, signal: AbortSignal): Promise<boolean> {
    return canExpand(this.context, volume, signal);
  }

  expand(request: ExpandRequest): Promise<void> {
    return expandVolume(this.context, this.staging, request);
  }

  usage(
    volume: { driver: string; handle: string; path: string },
    signal: AbortSignal,
  ): Promise<VolumeUsage | undefined> {
    return csiUsage(this.context, this.staging, volume, signal);
  }

  /** For node.status.volumesInUse. */
  inUse(): string[] {
    return this.context.users.inUse();
  }

  /** Settles when nothing is left to unstage. For tests. */
  idle(): Promise<void> {
    return this.staging.idle();
  }

  async stop(): Promise<void> {
    this.ended.abort(new Error("the kubelet is stopping"));
    await this.staging.stop();
  }
}

// Calls NodeExpandVolume of a grown volume's driver, which grows the file system. A driver without that capability gets
// no call.

interface ExpandRequest {
  volume: CsiVolume;
  /** The volume's path in the pod. */
  path: string;
  block: boolean;
  bytes: bigint;
  signal: AbortSignal;
}

/** @throws PluginCallError, CsiDriverMissingError */
async function canExpand(context: CsiContext, volume: CsiVolume, signal: AbortSignal): Promise<boolean> {
  const { node } = await context.drivers.get(volume.driver, signal);
  return (await node.capabilities(signal)).has(CAPABILITY.EXPAND_VOLUME);
}

/** @throws PluginCallError, CsiDriverMissingError, ApiError, … */
async function expandVolume(context: CsiContext, staging: Staging, request: ExpandRequest): Promise<void> {
  const { volume, path, block, bytes, signal } = request;
  const key = deviceKey(volume);
  const { node } = await context.drivers.get(volume.driver, signal);
  const capabilities = await node.capabilities(signal);
  const mode = accessMode(volume.accessModes, capabilities);
  const use = { fsType: volume.fsType, mountFlags: volume.mountOptions, group: undefined };
  const device = context.users.get(key);
  const secrets = await readSecret(context.joined().client, volume.expandSecret, signal);
  const expand = async (): Promise<void> => {
    await node.expand(
      {
        volumeId: volume.handle,
        volumePath: path,
        stagingTargetPath: device?.staged === true ? staging.target(device) : "",
        capacityRange: { requiredBytes: bytes },
        volumeCapability: block ? blockCapability(mode) : mountCapability(mode, use),
        secrets,
      },
      signal,
    );
  };
  await context.locks.run(key, expand, signal);
}

// NodeGetVolumeStats of a published volume: its usage and its condition.

/** undefined: the driver has no figures. @throws PluginCallError */
async function csiUsage(
  context: CsiContext,
  staging: Staging,
  volume: { driver: string; handle: string; path: string },
  signal: AbortSignal,
): Promise<VolumeUsage | undefined> {
  const driver = context.drivers.find(volume.driver);
  if (driver === undefined) return undefined;
  const capabilities = await driver.node.capabilities(signal);
  if (!capabilities.has(CAPABILITY.GET_VOLUME_STATS)) return undefined;
  const device = context.users.get(deviceKey(volume));
  const stagingTargetPath = device?.staged === true ? staging.target(device) : "";
  const request = { volumeId: volume.handle, volumePath: volume.path, stagingTargetPath };
  const { usage, volumeCondition } = await driver.node.stats(request, signal);
  const bytes = usage.find(({ unit }) => unit === VolumeUsage_Unit.BYTES);
  const inodes = usage.find(({ unit }) => unit === VolumeUsage_Unit.INODES);
  return {
    source: volume.driver,
    ...(bytes === undefined
      ? {}
      : {
          capacityBytes: Number(bytes.total),
          availableBytes: Number(bytes.available),
          usedBytes: Number(bytes.used),
        }),
    ...(inodes === undefined
      ? {}
      : { inodes: Number(inodes.total), inodesFree: Number(inodes.available), inodesUsed: Number(inodes.used) }),
    ...(volumeCondition === undefined || !capabilities.has(CAPABILITY.VOLUME_CONDITION)
      ? {}
      : { condition: { abnormal: volumeCondition.abnormal, message: volumeCondition.message } }),
  };
}
