// Volumes that outlive pods, and CSI drivers' volumes, of one node: the plugins for the volume manager, and what the node
// tells the cluster of them. Light: what does the work is loaded with the first such volume.
import { stat } from "node:fs/promises";
import { messageOf } from "../../../shared/errors/thrown.js";
import { moduleLogger } from "../../../shared/log/logger.js";
import type { CsiVolumes } from "../csi/csi-volumes.js";
import { CsiDrivers } from "../csi/drivers.js";
import { MIGRATED_FIELDS } from "../csi/migrated-plugins.js";
import { csiRoot } from "../csi/paths.js";
import { lazyPlugin } from "../lazy-plugin.js";
import type { VolumePlugin } from "../plugin.js";
import type { VolumeUsage } from "../volume-usage.js";
import type { Parts, PersistentVolumesOptions } from "./parts.js";

/** As in local.ts, which is loaded with the first volume. */
const LOCAL_PLUGIN = "kubernetes.io/local-volume";

export class PersistentVolumes {
  readonly drivers: CsiDrivers;
  readonly plugins: readonly VolumePlugin[];
  private readonly listeners = new Set<(names: string[]) => void>();
  private parts: Promise<Parts> | undefined;
  private loaded: Parts | undefined;

  constructor(private readonly options: PersistentVolumesOptions) {
    this.drivers = new CsiDrivers(options.clock);
    const plugin = (name: string, source: string, key: keyof Parts["plugins"], indirect = false): VolumePlugin =>
      lazyPlugin({
        ...{ name, source, ...(indirect && { indirect }) },
        load: async () => (await this.load()).plugins[key],
      });
    this.plugins = [
      plugin("kubernetes.io/persistent-claim", "persistentVolumeClaim", "claim", true),
      plugin("kubernetes.io/persistent-claim", "ephemeral", "ephemeral", true),
      plugin("kubernetes.io/csi", "csi", "csi", true),
      ...MIGRATED_FIELDS.map((field) => plugin("kubernetes.io/csi-migration", field, field, true)),
      plugin("kubernetes.io/nfs", "nfs", "nfs"),
      // No source of a pod: local volumes are behind claims, and found on disk.
      plugin(LOCAL_PLUGIN, "", "local"),
    ];
  }

  /**
   * What an earlier kubelet left is known afterwards: volumesInUse is true from then on.
   * @throws what reading directories throws: to be tried again
   */
  async recover(): Promise<void> {
    const { rootDir } = this.options;
    if (await isThere(csiRoot(rootDir))) await (await this.csi()).load();
    if (await isThere(`${rootDir}/plugins/${LOCAL_PLUGIN}/mounts`)) await this.releaseUnusedDevices();
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
    return this.loaded?.csi.inUse() ?? [];
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
  stats(uid: string): Map<string, { claim: string; usage: VolumeUsage }> {
    return this.loaded?.stats.ofPod(uid) ?? new Map<string, { claim: string; usage: VolumeUsage }>();
  }

  async stop(): Promise<void> {
    const parts = await this.parts?.catch(() => undefined);
    await parts?.stats.stop();
    await parts?.csi.stop();
    this.drivers.close();
  }

  private load(): Promise<Parts> {
    this.parts ??= this.make().catch((error: unknown) => {
      this.parts = undefined;
      throw error;
    });
    return this.parts;
  }

  private async make(): Promise<Parts> {
    const { options, drivers } = this;
    const { makeParts } = await import("./parts.js");
    const onInUse = (): void => {
      const names = this.volumesInUse();
      for (const listener of this.listeners) listener(names);
    };
    this.loaded = await makeParts({ ...options, log: moduleLogger(options.log, "csi"), drivers, onInUse });
    return this.loaded;
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
