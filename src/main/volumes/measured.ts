// Measures one operation on a volume under the name of the plugin that does it.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { VolumeOperationName, VolumeMetrics } from "./metrics.js";
import type { VolumeDoer, OnPluginKnown } from "./plugin.js";

/** Operations on volumes that pods have as devices, by the operation on a file system. */
const BLOCK: Partial<Record<VolumeOperationName, VolumeOperationName>> = {
  volume_mount: "map_volume",
  volume_unmount: "unmap_volume",
  unmount_device: "unmap_device",
};

/** `doer` undefined: `work` has to say it, or nothing is measured. */
export async function measured<T>(
  { clock, metrics }: { clock: Clock; metrics: VolumeMetrics },
  operation: VolumeOperationName,
  doer: VolumeDoer | undefined,
  work: (onPluginKnown: OnPluginKnown) => Promise<T>,
): Promise<T> {
  const startedAt = clock.monotonic();
  let known = doer;
  let ok = false;
  try {
    const result = await work((found) => (known = found));
    ok = true;
    return result;
  } finally {
    if (known !== undefined) {
      const name = known.block === true ? (BLOCK[operation] ?? operation) : operation;
      metrics.operation(known, name, clock.monotonic() - startedAt, ok);
    }
  }
}
