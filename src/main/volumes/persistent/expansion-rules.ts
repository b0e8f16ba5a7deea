// Expansion of a claim's volume on the node: the decision to expand, and the claim's status after it. Pure.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { Quantity } from "../../../shared/kubernetes/api/meta.js";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../shared/kubernetes/api/objects.js";
import { compareQuantities } from "../../../shared/kubernetes/api/quantity.js";

export type ClaimStatus = NonNullable<PersistentVolumeClaim["status"]>;
type Condition = NonNullable<ClaimStatus["conditions"]>[number];

/** The claim's status of an expansion. */
const RESIZE_CONDITIONS: ReadonlySet<string> = new Set([
  "Resizing",
  "FileSystemResizePending",
  "ControllerResizeError",
  "NodeResizeError",
]);
/** The control plane is done with it. */
const NODE_IS_NEXT: ReadonlySet<string> = new Set(["NodeResizePending", "NodeResizeInProgress"]);

export interface Growth {
  size: Quantity;
  /**
   * The claim's status tracks the progress; false: the resize controller predates that status
   * (RecoverVolumeExpansionFailure).
   */
  tracked: boolean;
  /** The claim shows the size already: another node was first, and this one has the volume too. */
  shown: boolean;
}

/** `here`: the size that the volume last had on this node, as far as known. undefined: nothing to do. */
export function growthOf(
  claim: PersistentVolumeClaim,
  pv: PersistentVolume,
  here: Quantity | undefined,
): Growth | undefined {
  const { capacity, allocatedResources, allocatedResourceStatuses } = claim.status ?? {};
  const status = allocatedResourceStatuses?.["storage"];
  const allocated = allocatedResources?.["storage"];
  const [shown, full] = [capacity?.["storage"], pv.spec.capacity?.["storage"]];
  if (shown === undefined || full === undefined) return undefined;
  if (status === undefined && compareQuantities(shown, full) >= 0) {
    const everywhere = pv.spec.accessModes?.includes("ReadWriteMany") === true;
    if (!everywhere || here === undefined || compareQuantities(here, full) >= 0) return undefined;
    if (claim.metadata.annotations?.["volume.kubernetes.io/node-expansion-not-required"] !== undefined)
      return undefined;
    return { size: full, tracked: true, shown: true };
  }
  if (compareQuantities(shown, full) >= 0) return undefined;
  if (status === undefined && allocated === undefined) return { size: full, tracked: false, shown: false };
  if (status === undefined || !NODE_IS_NEXT.has(status)) return undefined;
  return { size: allocated ?? full, tracked: true, shown: false };
}

/** Merge patches of the claim's status. */
export function inProgress(): Record<string, unknown> {
  return { allocatedResourceStatuses: { storage: "NodeResizeInProgress" } };
}

export function grown(status: ClaimStatus, size: Quantity): Record<string, unknown> {
  const conditions = status.conditions?.filter(({ type }) => !RESIZE_CONDITIONS.has(type));
  return omitUndefined({
    capacity: { storage: size },
    conditions,
    allocatedResourceStatuses: { storage: null },
  });
}

/** `infeasible`: no other try will do better. `now`: as the API writes times. */
export function failed(
  status: ClaimStatus,
  { problem, infeasible, now }: { problem: string; infeasible: boolean; now: string },
): Record<string, unknown> {
  const condition: Condition = {
    type: "NodeResizeError",
    status: "True",
    lastTransitionTime: now,
    message: `failed to expand pvc with ${problem}`,
  };
  const { conditions = [] } = status;
  const known = conditions.some(({ type, status: holds }) => type === condition.type && holds === "True");
  return omitUndefined({
    conditions: known ? undefined : [...conditions.filter(({ type }) => type !== condition.type), condition],
    allocatedResourceStatuses: infeasible ? { storage: "NodeResizeInfeasible" } : undefined,
  });
}
