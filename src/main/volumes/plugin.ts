// What a volume plugin is: one kind of source, set up for one pod. Tearing down is by directory, because after a restart
// the pod may be known only from disk.
import type { Pod } from "../../shared/api/pod.js";
import type { Volume } from "../../shared/api/volume.js";
import type { VolumePlace } from "./place.js";

/** Who does the work for a volume, in the words of metrics. */
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
}

export interface VolumePlugin {
  /** "kubernetes.io/empty-dir": also the directory name below volumes/. */
  readonly name: string;
  /** Field of the volume that selects the plugin: "emptyDir". */
  readonly source: string;
  /** It finds out who does the work, and says so (`doneBy`): its own name is none of a volume's. */
  readonly indirect?: true;
  /** Idempotent. Resolves to what containers get. @throws VolumeSetUpError, UnsupportedVolumeError */
  setUp(request: SetUpRequest): Promise<VolumePlace>;
  /**
   * For sources whose content changes under running pods: makes it what it has to be by now, in place. Called for volumes
   * that are set up, in the background, again and again. Rejects as setUp does; what is there stays as it is.
   */
  refresh?(request: SetUpRequest): Promise<void>;
  /** What of such a volume this node cannot do, in words for an UnsupportedVolumeError; absent: nothing. */
  unsupported?: (volume: Volume) => string | undefined;
  /** Idempotent; absent for sources that own nothing on disk. @throws VolumeBusyError, ForeignMountError */
  tearDown?(uid: string, volume: string, doneBy?: DoneBy): Promise<void>;
  /** Idempotent; for volumes that pods have as devices, by their name below volumeDevices/. */
  unmapDevice?(uid: string, volume: string, doneBy?: DoneBy): Promise<void>;
}
