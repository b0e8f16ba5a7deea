// A CSI volume is expanded on the node once its claim asks for it, while it is staged and published. It is never made
// smaller, nor expanded again to a size that it has, or that the driver has refused. The claim shows a refusal.

import { STATUS } from "../../../src/shared/kubernetes/plugins/call-error.js";
import { kernel } from "../kernel/kernel.js";
import { bytesOf, INFEASIBLE, type ClaimGrowth } from "../world/claim-growth.js";
import { CLAIMS, volumeOf, type CsiPlugin } from "../world/csi-plugin.js";
import type { Broken, Invariant } from "./invariant.js";

/** A fault ends at the latest so long after it began; an answer that was lost, or a kill, may need a second call. */
const FAULT_MS = 61_000;

export const volumesGrow: Invariant = {
  name: "CSI volumes are expanded once, when their claims ask for it",
  promisedBy: "docs/adr/0027-persistent-volumes.md",
  watch({ csi, facts, growth }, broken) {
    if (csi === undefined || growth === undefined) return undefined;
    /** Size and moment of the last expansion, and of the last refusal, by volume. */
    const last = new Map<string, { bytes: bigint; atMs: number }>();
    const refused = new Map<string, { bytes: bigint; atMs: number }>();
    /** Volumes whose driver says that they are in use: until they are staged anew, or the kubelet is. */
    const inUse = new Map<string, { bytes: bigint; startedAt: number | undefined }>();
    csi.onStage.add((volume) => void inUse.delete(volume));
    csi.onRefuse.add(({ volume, bytes }) => {
      const isInUse = csi.refused.get(volume)?.code === STATUS.FAILED_PRECONDITION;
      const before = isInUse && !inUse.has(volume) ? undefined : refused.get(volume);
      if (isInUse) inUse.set(volume, { bytes, startedAt: facts.startedAt });
      refused.set(volume, { bytes, atMs: kernel.monotonic });
      if (before?.bytes === bytes && facts.lastFaultAt < before.atMs - FAULT_MS)
        broken(`${volume} is to have ${bytes} bytes again, which the driver has refused`);
    });
    csi.onExpand.add(({ volume, bytes, path }) => {
      const claim = CLAIMS.find((one) => volumeOf(one) === volume) ?? "";
      if (!csi.staged.has(volume)) broken(`${volume} is expanded and not staged`);
      if (csi.published.get(path) !== volume) broken(`${volume} is expanded at ${path}, where it is not published`);
      const size = csi.sizes.get(volume) ?? 0n;
      if (bytes < size) broken(`${volume} has ${size} bytes and is to have ${bytes}`);
      const wanted = growth.sizeOf(claim);
      if (bytes !== wanted) broken(`${volume} is to have ${bytes} bytes, and not ${wanted}`);
      const before = last.get(volume);
      last.set(volume, { bytes, atMs: kernel.monotonic });
      if (before?.bytes === bytes && facts.lastFaultAt < before.atMs - FAULT_MS)
        broken(`${volume} is expanded again to ${bytes} bytes`);
    });
    return () => {
      for (const claim of CLAIMS) {
        const volume = volumeOf(claim);
        if (!csi.staged.has(volume)) continue;
        const refusal = csi.refused.get(volume);
        if (refusal?.bytes === growth.sizeOf(claim) && refusal.code !== STATUS.FAILED_PRECONDITION) {
          checkRefused(claim, csi, growth, broken);
          continue;
        }
        const asked = inUse.get(volume);
        if (asked?.bytes === growth.sizeOf(claim) && asked.startedAt === facts.startedAt) {
          checkInUse(claim, csi, growth, broken);
          continue;
        }
        const wanted = growth.wantedOf(claim);
        const { capacity, allocatedResourceStatuses, conditions = [] } = growth.statusOf(claim);
        if (csi.sizes.get(volume) !== wanted) broken(`${volume} has ${csi.sizes.get(volume)} bytes, not ${wanted}`);
        if (bytesOf(capacity?.storage) !== wanted) broken(`${claim} shows ${capacity?.storage}, not ${wanted} bytes`);
        const left = [allocatedResourceStatuses?.storage, ...conditions.map(({ type }) => type)].filter(
          (one) => one !== undefined,
        );
        if (left.length > 0) broken(`${claim} has its size, and still shows ${left.join()}`);
      }
    };
  },
};

/** The volume keeps its size until it is staged anew, and the claim says why. */
function checkInUse(claim: string, csi: CsiPlugin, growth: ClaimGrowth, broken: Broken): void {
  const { capacity, allocatedResourceStatuses, conditions = [] } = growth.statusOf(claim);
  const size = csi.sizes.get(volumeOf(claim));
  if (bytesOf(capacity?.storage) !== size)
    broken(`${claim} shows ${capacity?.storage}, and its volume has ${size} bytes`);
  const { storage } = allocatedResourceStatuses ?? {};
  if (storage !== "NodeResizeInProgress") broken(`the volume of ${claim} is in use, and the claim shows ${storage}`);
  if (!conditions.some(({ type }) => type === "NodeResizeError")) broken(`${claim} has no condition of the refusal`);
}

function checkRefused(claim: string, csi: CsiPlugin, growth: ClaimGrowth, broken: Broken): void {
  const { capacity, allocatedResourceStatuses, conditions = [] } = growth.statusOf(claim);
  const size = csi.sizes.get(volumeOf(claim));
  if (bytesOf(capacity?.storage) !== size)
    broken(`${claim} shows ${capacity?.storage}, and its volume has ${size} bytes`);
  const { storage } = allocatedResourceStatuses ?? {};
  if (storage !== INFEASIBLE) broken(`the driver refuses the size of ${claim}, which shows ${storage}`);
  if (!conditions.some(({ type }) => type === "NodeResizeError")) broken(`${claim} has no condition of the refusal`);
}
