// Persistent volumes and CSI volumes of the node: the volume manager's plugins, and volumesInUse of the Node's status.
// The implementation is loaded with the first such volume.

import { stat } from "node:fs/promises";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { CsiVolumes } from "../csi/csi-volumes.js";
import { CsiDrivers } from "../csi/drivers.js";
import { MIGRATED_FIELDS } from "../csi/migrated-plugins.js";
import { csiRoot } from "../csi/paths.js";
import { lazyPlugin } from "../lazy-plugin.js";
import { type VolumePlugin } from "../plugin.js";
import type { VolumeUsage } from "../volume-usage.js";
import type { PersistentComponents, PersistentVolumesOptions } from "./components.js";

/** As in local.ts, which is loaded with the first volume. */
const LOCAL_PLUGIN = "kubernetes.io/local-volume";
/** As in flex/names.ts. */
const FLEX_PLUGIN = "kubernetes.io/flexvolume";

export class PersistentVolumes {
  readonly drivers: CsiDrivers;
  readonly plugins: readonly VolumePlugin[];
  private readonly listeners = new Set<(names: string[]) => void>();
  private components: Promise<PersistentComponents> | undefined;
  private loaded: PersistentComponents | undefined;

  constructor(private readonly options: PersistentVolumesOptions) {
    this.drivers = new CsiDrivers(options.clock);
    const plugin = (
      name: string,
      source: string,
      key: keyof PersistentComponents["plugins"],
      indirect = false,
      ownsDirectories = false,
    ): VolumePlugin =>
      lazyPlugin({
        name,
        source,
        indirect,
        ownsDirectories,
        load: async () => (await this.load()).plugins[key],
      });
    this.plugins = [
      plugin("kubernetes.io/persistent-claim", "persistentVolumeClaim", "claim", true),
      plugin("kubernetes.io/persistent-claim", "ephemeral", "ephemeral", true),
      plugin("kubernetes.io/csi", "csi", "csi", true),
      ...MIGRATED_FIELDS.map((field) => plugin("kubernetes.io/csi-migration", field, field, true)),
      plugin("kubernetes.io/nfs", "nfs", "nfs"),
      plugin("kubernetes.io/iscsi", "iscsi", "iscsi"),
      plugin("kubernetes.io/fc", "fc", "fc"),
      plugin(FLEX_PLUGIN, "flexVolume", "flexVolume", true, true),
      // No source of a pod: local volumes are behind claims, and found on disk.
      plugin(LOCAL_PLUGIN, "", "local"),
    ];
  }

  /**
   * Reads the volumes that an earlier kubelet left; volumesInUse is complete afterwards.
   * @throws what reading directories throws: to be tried again
   */
  async recover(): Promise<void> {
    const { rootDir } = this.options;
    if (await isThere(csiRoot(rootDir))) await (await this.csi()).load();
    if (await isThere(`${rootDir}/plugins/${LOCAL_PLUGIN}/mounts`)) await this.releaseUnusedDevices();
    if (await isThere(`${rootDir}/plugins/${FLEX_PLUGIN}`)) await (await this.load()).flex();
    if (await isThere(`${rootDir}/plugins/kubernetes.io/iscsi`)) await (await this.load()).iscsi();
    if (await isThere(`${rootDir}/plugins/kubernetes.io/fc`)) await (await this.load()).fc();
  }

  /** A device that cannot be unmounted now is left to the next use of its volume. */
  private async releaseUnusedDevices(): Promise<void> {
    try {
      await (await this.load()).releaseUnusedDevices();
    } catch (error) {
      const { log } = this.options;
      log.warn({ err: error }, `cannot unmount the device of a local volume that no pod uses: ${messageOf(error)}`);
    }
  }

  /** For node.status.volumesInUse: what must not be detached from this node. */
  volumesInUse(): string[] {
    const { loaded } = this;
    return loaded === undefined ? [] : [...loaded.csi.inUse(), ...loaded.attachments.inUse()];
  }

  /** Calls the listener on every change, before a newly used volume is used. @returns a function that stops it */
  onVolumesInUse(listener: (names: string[]) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async csi(): Promise<CsiVolumes> {
    return (await this.load()).csi;
  }

  /** Figures of the pod's claims, by volume name. */
  stats(uid: PodUid): Map<string, { claim: string; usage: VolumeUsage }> {
    return this.loaded?.stats.ofPod(uid) ?? new Map<string, { claim: string; usage: VolumeUsage }>();
  }

  async stop(): Promise<void> {
    const components = await this.components?.catch(() => undefined);
    await components?.stats.stop();
    await components?.csi.stop();
    this.drivers.close();
  }

  private load(): Promise<PersistentComponents> {
    this.components ??= this.make().catch((error: unknown) => {
      this.components = undefined;
      throw error;
    });
    return this.components;
  }

  private async make(): Promise<PersistentComponents> {
    const { options, drivers } = this;
    const { makeComponents } = await import("./components.js");
    const onInUse = (): void => {
      const names = this.volumesInUse();
      for (const listener of this.listeners) listener(names);
    };
    this.loaded = await makeComponents(options, { drivers, onInUse });
    return this.loaded;
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
