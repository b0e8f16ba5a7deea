// Expands a claim's volume. The CSI driver or the kubelet grows the file system, then the kubelet updates the claim's
// status. Invariant: the claim shows the new size only after the volume has it. A size that a CSI driver refused is not
// requested again until the claim requests another size.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { quote } from "../../../shared/base/text/quote.js";
import { isConflict } from "../../../shared/kubernetes/api/client/errors.js";
import { PERSISTENT_VOLUME_CLAIMS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ObjectReference } from "../../../shared/kubernetes/api/event.js";
import type { Quantity } from "../../../shared/kubernetes/api/meta.js";
import type { PersistentVolumeClaim } from "../../../shared/kubernetes/api/objects.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { apiTime } from "../../../shared/kubernetes/api/time.js";
import { PluginCallError, STATUS } from "../../../shared/kubernetes/plugins/call-error.js";
import { type ClusterAccess } from "../../model/cluster-access.js";
import type { EventInput, EventRecorder, ObjectEvents } from "../../model/event-recorder.js";
import { joined } from "../../model/joined-cluster.js";
import type { BoundClaim } from "../claims/claim.js";
import { deviceKey } from "../csi/csi-volume.js";
import { problemText } from "../csi/step-error.js";
import { VolumeStepError } from "../errors.js";
import { measured } from "../measured.js";
import { type VolumeMetrics } from "../metrics.js";
import { isImagePlace, type VolumePlace } from "../place.js";
import { expanderOf, type ExpanderDeps } from "./expanders.js";
import { failed, grown, growthOf, inProgress, type ClaimStatus } from "./expansion-rules.js";

const STEP = "MountVolume.NodeExpandVolume";
const ONLINE_STEP = "NodeExpandVolume.NodeExpandVolume";
/** The requested size is impossible: another try would fail too. */
const INFEASIBLE: ReadonlySet<number> = new Set([STATUS.INVALID_ARGUMENT, STATUS.OUT_OF_RANGE, STATUS.NOT_FOUND]);
const TRIES = 3;

export interface ExpandClaim {
  pod: Pod;
  bound: BoundClaim;
  place: VolumePlace;
  /** The pod has the volume already. */
  online: boolean;
  signal: AbortSignal;
}

export interface VolumeExpansionDeps extends ExpanderDeps {
  nodeName: string;
  cluster: ClusterAccess;
  events: EventRecorder & ObjectEvents;
  clock: Clock;
  metrics: VolumeMetrics;
}

export class VolumeExpansion {
  /** By volume: the size that it has on this node. */
  private readonly sizes = new Map<string, Quantity>();
  /** By volume: the size that it can't have while it is here. */
  private readonly vain = new Map<string, Quantity>();

  constructor(private readonly deps: VolumeExpansionDeps) {}

  /** Call it before a pod gets the volume. A volume that was not on this node has the size of its claim. */
  async arrives({ pv, claim }: BoundClaim): Promise<void> {
    const { csi } = pv.spec;
    if (csi === undefined) return;
    const { users } = (await this.deps.csi()).context;
    for (const key of this.sizes.keys()) {
      if ((users.get(key)?.users.size ?? 0) > 0) continue;
      this.sizes.delete(key);
      this.vain.delete(key);
    }
    const key = deviceKey({ driver: csi.driver, handle: csi.volumeHandle });
    if (!this.sizes.has(key)) this.sizes.set(key, claim.status?.capacity?.["storage"] ?? "0");
  }

  /** Has the volume another size to get on this node? */
  isDue(bound: BoundClaim): boolean {
    const expander = expanderOf(bound, this.deps);
    if (expander === undefined) return false;
    const growth = growthOf(bound.claim, bound.pv, this.sizes.get(expander.key));
    return growth !== undefined && this.vain.get(expander.key) !== growth.size;
  }

  /** Nothing to do for a claim that shows its volume's size. @throws VolumeStepError, or the signal's reason */
  async expand({ pod, bound, place, online, signal }: ExpandClaim): Promise<void> {
    const { pv, claim, readOnly, migrated } = bound;
    const expander = expanderOf(bound, this.deps);
    if (expander === undefined || isImagePlace(place)) return;
    const { key } = expander;
    const growth = growthOf(claim, pv, this.sizes.get(key));
    if (growth === undefined || this.vain.get(key) === growth.size) return;
    const name = pv.metadata.name ?? "";
    const { nodeName } = this.deps;
    if (readOnly) {
      const message = `${STEP} failed for volume ${quote(name)} requested read-only file system`;
      this.emit(pod, claim, { type: "Warning", reason: "FileSystemResizeFailed", message });
      this.vain.set(key, growth.size);
      return;
    }
    try {
      if (!(await expander.can(signal))) return;
      let current = claim;
      if (growth.tracked && !growth.shown) current = await this.mark(current, () => inProgress(), signal);
      const doer = { plugin: expander.plugin, migrated };
      const sizes = { now: claim.status?.capacity?.["storage"] ?? "0", wanted: growth.size };
      await measured(this.deps, "volume_fs_resize", doer, () => expander.expand({ pod, bound, place, signal }, sizes));
      if (!growth.shown) await this.mark(current, (status) => grown(status, growth.size), signal);
      this.sizes.set(key, growth.size);
    } catch (error) {
      signal.throwIfAborted();
      await this.failed({ pod, bound, key, growth, online, signal }, error);
      return;
    }
    const message = `${STEP} succeeded for volume ${quote(name)} ${nodeName}`;
    this.emit(pod, claim, { type: "Normal", reason: "FileSystemResizeSuccessful", message });
  }

  /** The volume works with its old size, if another try is pointless. @throws VolumeStepError otherwise */
  private async failed({ pod, bound, key, growth, online, signal }: FailedGrowth, error: unknown): Promise<void> {
    const { claim, pv } = bound;
    const name = pv.metadata.name ?? "";
    const problem = problemText(error);
    const message = `${online ? ONLINE_STEP : STEP} failed for volume ${quote(name)} : ${problem}`;
    const event = { reason: "VolumeResizeFailed" as const, message };
    const infeasible = error instanceof PluginCallError && INFEASIBLE.has(error.code);
    // Only a CSI driver's call may continue after its failure.
    const final = error instanceof PluginCallError ? !error.uncertain : pv.spec.csi === undefined;
    if (growth.tracked && !growth.shown && final) {
      const now = apiTime(this.deps.clock.now());
      await this.mark(claim, (status) => failed(status, { problem, infeasible, now }), signal);
    }
    const busy = error instanceof PluginCallError && error.code === STATUS.FAILED_PRECONDITION;
    if (!busy && !infeasible) throw new VolumeStepError(pod, name, problem, event, { cause: error });
    this.vain.set(key, growth.size);
    this.deps.events.pod(pod, { type: "Warning", ...event });
  }

  private emit(pod: Pod, claim: PersistentVolumeClaim, event: Omit<EventInput, "container">): void {
    this.deps.events.pod(pod, event);
    this.deps.events.object(referenceTo(claim), event);
  }

  /** Changes the claim's present status: other clients write to it too. */
  private async mark(
    claim: PersistentVolumeClaim,
    edit: (status: ClaimStatus) => Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim> {
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
        return await client.patch(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, body, options);
      } catch (error) {
        if (!isConflict(error) || tried >= TRIES) throw error;
        current = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, { signal });
      }
    }
  }
}

interface FailedGrowth extends Pick<ExpandClaim, "pod" | "bound" | "online" | "signal"> {
  key: string;
  growth: NonNullable<ReturnType<typeof growthOf>>;
}

function referenceTo({ metadata }: PersistentVolumeClaim): ObjectReference {
  const { name = "", namespace = "", uid = "" } = metadata;
  return { kind: "PersistentVolumeClaim", apiVersion: "v1", namespace, name, uid };
}
