// NodeGetVolumeStats of a published volume: its usage and its condition.

import { VolumeUsage_Unit } from "../../../shared/kubernetes/plugins/gen/csi.v1.js";
import type { VolumeUsage } from "../volume-usage.js";
import type { CsiContext } from "./context.js";
import { deviceKey } from "./csi-volume.js";
import { CAPABILITY } from "./node-port.js";
import type { Staging } from "./staging.js";

/** undefined: the driver has no figures. @throws PluginCallError */
export async function csiUsage(
  context: CsiContext,
  staging: Staging,
  volume: { driver: string; handle: string; path: string },
  signal: AbortSignal,
): Promise<VolumeUsage | undefined> {
  const driver = context.drivers.find(volume.driver);
  if (driver === undefined) return undefined;
  const capabilities = await driver.node.capabilities(signal);
  if (!capabilities.has(CAPABILITY.GET_VOLUME_STATS)) return undefined;
  const device = context.users.get(deviceKey(volume));
  const stagingTargetPath = device?.staged === true ? staging.target(device) : "";
  const request = { volumeId: volume.handle, volumePath: volume.path, stagingTargetPath };
  const { usage, volumeCondition } = await driver.node.stats(request, signal);
  const bytes = usage.find(({ unit }) => unit === VolumeUsage_Unit.BYTES);
  const inodes = usage.find(({ unit }) => unit === VolumeUsage_Unit.INODES);
  return {
    source: volume.driver,
    capacityBytes: bytes === undefined ? undefined : Number(bytes.total),
    availableBytes: bytes === undefined ? undefined : Number(bytes.available),
    usedBytes: bytes === undefined ? undefined : Number(bytes.used),
    inodes: inodes === undefined ? undefined : Number(inodes.total),
    inodesFree: inodes === undefined ? undefined : Number(inodes.available),
    inodesUsed: inodes === undefined ? undefined : Number(inodes.used),
    condition:
      volumeCondition === undefined || !capabilities.has(CAPABILITY.VOLUME_CONDITION)
        ? undefined
        : { abnormal: volumeCondition.abnormal, message: volumeCondition.message },
  };
}
