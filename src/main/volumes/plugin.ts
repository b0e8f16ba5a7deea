// The interface of a volume plugin: it sets up one kind of source for one pod. Teardown goes by directory, because
// after a restart the pod may be known only from disk.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../shared/kubernetes/api/volume.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
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
export type OnPluginKnown = (doer: VolumeDoer) => void;

export interface SetUpRequest {
  pod: Pod;
  volume: Volume;
  signal: AbortSignal;
  /** Called by plugins that delegate, as soon as they know the plugin that does the work. */
  onPluginKnown?: OnPluginKnown;
  /** For plugins to call when something has come whose absence made a set-up fail: the next try begins at once. */
  retryNow?: () => void;
}

export interface VolumePlugin {
  /** "kubernetes.io/empty-dir": also the directory name below volumes/. */
  readonly name: string;
  /** Field of the volume that selects the plugin: "emptyDir". */
  readonly source: string;
  /** The plugin delegates to another one and reports its name to `onPluginKnown`: no volume has its own name. */
  readonly indirect?: boolean | undefined;
  /** Idempotent. Resolves to what containers get. @throws VolumeSetUpError, UnsupportedVolumeError */
  setUp(request: SetUpRequest): Promise<VolumePlace>;
  /**
   * For sources whose content changes under running pods: updates the content in place. Called repeatedly in the
   * background for volumes that are set up. Rejects as setUp does; the old content then stays.
   */
  refresh?(request: SetUpRequest): Promise<void>;
  /** The feature of such a volume that this node lacks, as text for an UnsupportedVolumeError; absent: none. */
  unsupported?: ((volume: Volume) => string | undefined) | undefined;
  /** Idempotent; absent for sources that own nothing on disk. @throws VolumeError, ForeignMountError */
  tearDown?(uid: PodUid, volume: string, onPluginKnown?: OnPluginKnown): Promise<void>;
  /** Idempotent; for volumes that pods have as devices, by their name below volumeDevices/. */
  unmapDevice?(uid: PodUid, volume: string, onPluginKnown?: OnPluginKnown): Promise<void>;
  /** For volumes in directories of pods that bear no plugin's name: those of flexVolume drivers. As `tearDown`. */
  tearDownIn?: ((directory: string, uid: PodUid, volume: string) => Promise<void>) | undefined;
  /** Ends background work. */
  stop?(): Promise<void>;
}
