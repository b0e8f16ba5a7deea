// A claim whose volume has grown: the driver grows the file system on the node, and the claim's status is told.
// What must hold: the claim shows the new size only after the driver has said so; a size that cannot be had is not asked
// for again until another one is.
import { isConflict } from "../../../shared/api/client/errors.js";
import { PERSISTENT_VOLUME_CLAIMS } from "../../../shared/api/client/kinds.js";
import type { PersistentVolumeClaim } from "../../../shared/api/objects.js";
import { compareQuantities, value } from "../../../shared/api/quantity.js";
import type { Pod } from "../../../shared/api/pod.js";
import { isPluginCallError, STATUS } from "../../../shared/plugins/call-error.js";
import { joined } from "../../cluster/joined.js";
import type { ClusterAccess } from "../../cluster/port.js";
import type { EventRecorder } from "../../events/recorder.js";
import { persistentVolume } from "../csi/csi-volume.js";
import type { CsiVolumes } from "../csi/csi-volumes.js";
import { VolumeStepError } from "../errors.js";
import { isDevicePlace, isImagePlace, type VolumePlace } from "../place.js";
import { isBlock, type BoundClaim } from "./claim.js";

const STEP = "MountVolume.NodeExpandVolume";
/** The size asked for can't be had: another try would be as vain. */
const INFEASIBLE: ReadonlySet<number> = new Set([STATUS.INVALID_ARGUMENT, STATUS.OUT_OF_RANGE, STATUS.NOT_FOUND]);
const TRIES = 3;

type Status = NonNullable<PersistentVolumeClaim["status"]>;

export interface ExpandClaim {
  pod: Pod;
  bound: BoundClaim;
  place: VolumePlace;
  signal: AbortSignal;
}

export class VolumeExpansion {
  constructor(
    private readonly deps: {
      nodeName: string;
      cluster: ClusterAccess;
      csi: () => Promise<CsiVolumes>;
      events: EventRecorder;
    },
  ) {}

  /** Nothing to do for a claim that shows its volume's size. @throws VolumeStepError, or the signal's reason */
  async expand({ pod, bound, place, signal }: ExpandClaim): Promise<void> {
    const { pv, claim, readOnly } = bound;
    const { csi } = pv.spec;
    const wanted = pv.spec.capacity?.["storage"];
    const shown = claim.status?.capacity?.["storage"];
    if (csi === undefined || wanted === undefined || shown === undefined || isImagePlace(place)) return;
    if (compareQuantities(shown, wanted) >= 0) return;
    if (claim.status?.allocatedResourceStatuses?.["storage"] === "NodeResizeInfeasible") return;
    const name = pv.metadata.name ?? "";
    const { events, nodeName } = this.deps;
    if (readOnly) {
      const message = `${STEP} failed for volume "${name}" requested read-only file system`;
      events.pod(pod, { type: "Warning", reason: "FileSystemResizeFailed", message });
      return;
    }
    const path = isDevicePlace(place) ? place.devicePath : place.hostPath;
    const volume = persistentVolume(pv, csi, readOnly);
    try {
      const volumes = await this.deps.csi();
      if (!(await volumes.canExpand(volume, signal))) return;
      await this.mark(claim, () => resizing("NodeResizeInProgress"), signal);
      await volumes.expand({ volume, path, block: isBlock(pv), bytes: value(wanted), signal });
      await this.mark(claim, (status) => grown(status, wanted), signal);
    } catch (error) {
      signal.throwIfAborted();
      const infeasible = isPluginCallError(error) && INFEASIBLE.has(error.code);
      const problem = error instanceof Error ? error.message : String(error);
      const event = {
        reason: "VolumeResizeFailed" as const,
        message: `${STEP} failed for volume "${name}" : ${problem}`,
      };
      if (!infeasible) throw new VolumeStepError(pod, name, problem, event, { cause: error });
      // The volume serves as it is.
      events.pod(pod, { type: "Warning", ...event });
      await this.mark(claim, () => resizing("NodeResizeInfeasible"), signal);
      return;
    }
    const message = `${STEP} succeeded for volume "${name}" ${nodeName}`;
    events.pod(pod, { type: "Normal", reason: "FileSystemResizeSuccessful", message });
  }

  /** On the claim as it is by then: others write to it too. */
  private async mark(
    claim: PersistentVolumeClaim,
    edit: (status: Status) => Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<void> {
    const { client } = joined(this.deps.cluster);
    const { name = "", namespace = "" } = claim.metadata;
    let current = claim;
    for (let tried = 1; ; tried++) {
      const { resourceVersion } = current.metadata;
      const body = {
        metadata: resourceVersion === undefined ? {} : { resourceVersion },
        status: edit(current.status ?? {}),
      };
      try {
        const options = { subresource: "status", type: "merge" as const, signal };
        await client.patch(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, body, options);
        return;
      } catch (error) {
        if (!isConflict(error) || tried >= TRIES) throw error;
        current = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, { signal });
      }
    }
  }
}

function resizing(state: string): Record<string, unknown> {
  return { allocatedResourceStatuses: { storage: state } };
}

/** Merge patch of the status once the file system has grown. */
export function grown(status: Status, size: string | number): Record<string, unknown> {
  const conditions = status.conditions?.filter(({ type }) => type !== "FileSystemResizePending" && type !== "Resizing");
  return {
    capacity: { storage: size },
    ...(conditions === undefined ? {} : { conditions }),
    allocatedResourceStatuses: { storage: null },
  };
}
