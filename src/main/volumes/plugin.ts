// The interface of a volume plugin: it sets up one kind of source for one pod. Teardown goes by directory, because after a restart
// the pod may be known only from disk.
import type { Pod } from "../../shared/api/pod.js";
import type { Volume } from "../../shared/api/volume.js";
import { lazily } from "../../shared/turns/lazily.js";
import type { VolumePlace } from "./place.js";

/** The plugin of a volume, as the labels of metrics name it. */
export interface VolumeDoer {
  /** "kubernetes.io/empty-dir"; of CSI with the driver: "kubernetes.io/csi:ebs.csi.aws.com". */
  plugin: string;
  /** The API names a volume of a cloud, whose CSI driver serves it. */
  migrated?: boolean;
  /** The pod has it as a device. */
  block?: boolean;
}
export type DoneBy = (doer: VolumeDoer) => void;

export interface SetUpRequest {
  pod: Pod;
  volume: Volume;
  signal: AbortSignal;
  /** Called by plugins that delegate, as soon as they know the plugin that does the work. */
  doneBy?: DoneBy;
  /** For plugins to call when something has come whose absence made a set-up fail: the next try begins at once. */
  hurry?: () => void;
}

export interface VolumePlugin {
  /** "kubernetes.io/empty-dir": also the directory name below volumes/. */
  readonly name: string;
  /** Field of the volume that selects the plugin: "emptyDir". */
  readonly source: string;
  /** The plugin delegates to another one and reports its name (`doneBy`): no volume has the plugin's own name. */
  readonly indirect?: true;
  /** Idempotent. Resolves to what containers get. @throws VolumeSetUpError, UnsupportedVolumeError */
  setUp(request: SetUpRequest): Promise<VolumePlace>;
  /**
   * For sources whose content changes under running pods: updates the content in place. Called repeatedly in the
   * background for volumes that are set up. Rejects as setUp does; the old content then stays.
   */
  refresh?(request: SetUpRequest): Promise<void>;
  /** The feature of such a volume that this node lacks, as text for an UnsupportedVolumeError; absent: none. */
  unsupported?: (volume: Volume) => string | undefined;
  /** Idempotent; absent for sources that own nothing on disk. @throws VolumeBusyError, ForeignMountError */
  tearDown?(uid: string, volume: string, doneBy?: DoneBy): Promise<void>;
  /** Idempotent; for volumes that pods have as devices, by their name below volumeDevices/. */
  unmapDevice?(uid: string, volume: string, doneBy?: DoneBy): Promise<void>;
  /** For volumes in directories of pods that bear no plugin's name: those of flexVolume drivers. As `tearDown`. */
  tearDownIn?(directory: string, uid: string, volume: string): Promise<void>;
  /** Ends background work. */
  stop?(): Promise<void>;
}

// A volume plugin whose code is loaded for the first pod that uses it.

interface LazyPlugin {
  name: string;
  source: string;
  indirect?: true;
  /** It has `tearDownIn`. */
  ownsDirectories?: true;
  unsupported?: (volume: Volume) => string | undefined;
  load(): Promise<VolumePlugin>;
}

/** The plugin has `refresh`, `tearDown` and `unmapDevice`, which do nothing where the loaded one has none. */
export function lazyPlugin(plugin: LazyPlugin): VolumePlugin {
  const { name, source, indirect, ownsDirectories, unsupported } = plugin;
  let loading: Promise<VolumePlugin> | undefined;
  const load = lazily(() => plugin.load());
  const loaded = (): Promise<VolumePlugin> => (loading = load());
  return {
    name,
    source,
    ...(indirect === true && { indirect }),
    ...(unsupported !== undefined && { unsupported }),
    setUp: async (request) => (await loaded()).setUp(request),
    refresh: async (request) => (await loaded()).refresh?.(request),
    tearDown: async (uid, volume, doneBy) => (await loaded()).tearDown?.(uid, volume, doneBy),
    unmapDevice: async (uid, volume, doneBy) => (await loaded()).unmapDevice?.(uid, volume, doneBy),
    ...(ownsDirectories === true && {
      tearDownIn: async (directory, uid, volume) => (await loaded()).tearDownIn?.(directory, uid, volume),
    }),
    // A plugin that failed to load has no background work to stop.
    stop: async () => (await loading?.catch(() => undefined))?.stop?.(),
  };
}
