// CSI volumes of this node: one object for all that is staged, published and mapped. Loaded with the first pod that
// wants such a volume, or the first one that an earlier kubelet left.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import { lazily } from "../../../shared/base/turns/lazily.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { DevicePlace, HostPlace } from "../place.js";
import type { OnPluginKnown } from "../plugin.js";
import type { VolumeUsage } from "../volume-usage.js";
import { detach } from "./attach.js";
import { csiContext, type CsiContext, type CsiOptions } from "./context.js";
import { csiUsage } from "./csi-usage.js";
import { type CsiVolume } from "./csi-volume.js";
import { canExpand, type ExpandRequest, expandVolume } from "./expand-volume.js";
import { CsiMaps, type MapRequest } from "./map-volume.js";
import { CsiMounts, type MountRequest } from "./mount-volume.js";
import { Staging } from "./staging.js";

export class CsiVolumes {
  readonly context: CsiContext;
  private readonly staging: Staging;
  private readonly mounts: CsiMounts;
  private readonly maps: CsiMaps;
  private readonly lifetime = new Lifetime();

  /** Reads the volumes of the previous kubelet process from disk; unstages those that no pod uses. */
  readonly load = lazily(async () => {
    await this.context.users.load(this.context.rootDir);
    this.staging.releaseUnused();
    this.context.onInUse();
  });

  constructor(options: CsiOptions) {
    const context = csiContext(options);
    this.context = context;
    this.staging = new Staging(context, async (device) => {
      if (!context.controllerAttaches && device.attachable !== false) {
        await detach(context, device, this.lifetime.signal);
      }
      context.users.forgetUnused(device);
      context.onInUse();
    });
    this.mounts = new CsiMounts(context, this.staging);
    this.maps = new CsiMaps(context, this.staging);
  }

  async setUpMount(request: MountRequest): Promise<HostPlace> {
    await this.load();
    return this.mounts.setUp(request);
  }

  async republish(request: MountRequest): Promise<void> {
    await this.load();
    return this.mounts.republish(request);
  }

  async tearDownMount(uid: PodUid, spec: string, onPluginKnown?: OnPluginKnown): Promise<void> {
    await this.load();
    return this.mounts.tearDown({ uid, spec, signal: this.lifetime.signal, onPluginKnown });
  }

  async map(request: MapRequest): Promise<DevicePlace> {
    await this.load();
    return this.maps.map(request);
  }

  async unmap(uid: PodUid, spec: string, onPluginKnown?: OnPluginKnown): Promise<void> {
    await this.load();
    return this.maps.unmap({ uid, spec, signal: this.lifetime.signal, onPluginKnown });
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
    this.lifetime.end();
    await this.staging.stop();
  }
}
