// A CSI volume is expanded on the node once its claim asks for it, while it is staged and published. It is never made
// smaller, nor expanded again to a size that it has.

import { kernel } from "../kernel/kernel.js";
import { bytesOf } from "../world/claim-growth.js";
import { CLAIMS, volumeOf } from "../world/csi-plugin.js";
import type { Invariant } from "./invariant.js";

/** A fault ends at the latest so long after it began; an answer that was lost, or a kill, may need a second call. */
const FAULT_MS = 61_000;

export const volumesGrow: Invariant = {
  name: "CSI volumes are expanded once, when their claims ask for it",
  promisedBy: "docs/adr/0027-persistent-volumes.md",
  watch({ csi, facts, growth }, broken) {
    if (csi === undefined || growth === undefined) return undefined;
    /** Size and moment of the last expansion, by volume. */
    const last = new Map<string, { bytes: bigint; atMs: number }>();
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
