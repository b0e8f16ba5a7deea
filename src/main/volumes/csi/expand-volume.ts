// Calls NodeExpandVolume of a grown volume's driver, which grows the file system. A driver without that capability gets
// no call.

import { accessMode, blockCapability, mountCapability } from "./capability.js";
import type { CsiContext } from "./context.js";
import { type CsiVolume, deviceKey } from "./csi-volume.js";
import { CAPABILITY } from "./node-port.js";
import { readSecret } from "./read-secret.js";
import type { Staging } from "./staging.js";

export interface ExpandRequest {
  volume: CsiVolume;
  /** The volume's path in the pod. */
  path: string;
  block: boolean;
  bytes: bigint;
  signal: AbortSignal;
}

/** @throws PluginCallError, VolumeError */
export async function canExpand(context: CsiContext, volume: CsiVolume, signal: AbortSignal): Promise<boolean> {
  const { node } = await context.drivers.get(volume.driver, signal);
  return (await node.capabilities(signal)).has(CAPABILITY.EXPAND_VOLUME);
}

/** @throws PluginCallError, VolumeError, ApiError, … */
export async function expandVolume(context: CsiContext, staging: Staging, request: ExpandRequest): Promise<void> {
  const { volume, path, block, bytes, signal } = request;
  const key = deviceKey(volume);
  const { node } = await context.drivers.get(volume.driver, signal);
  const capabilities = await node.capabilities(signal);
  const mode = accessMode(volume.accessModes, capabilities);
  const use = { fsType: volume.fsType, mountFlags: volume.mountOptions, group: undefined };
  const device = context.users.get(key);
  const secrets = await readSecret(context.joined().client, volume.expandSecret, signal);
  const expand = async (): Promise<void> => {
    await node.expand(
      {
        volumeId: volume.handle,
        volumePath: path,
        stagingTargetPath: device?.staged === true ? staging.target(device) : "",
        capacityRange: { requiredBytes: bytes },
        volumeCapability: block ? blockCapability(mode) : mountCapability(mode, use),
        secrets,
      },
      signal,
    );
  };
  await context.locks.run(key, expand, signal);
}
