// Decodes a list of devices, ListAndWatchResponse, in pieces: a plugin may report tens of thousands, and the main
// thread decodes them.
// Invariant: the event loop turns between the pieces; a list of more devices than MAX_DEVICES is refused before it
// counts.

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Device } from "../../../shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js";
import { DevicePluginError, type Devices, type PluginDevice } from "./plugin-port.js";

/** gRPC's limit of a message, 4 MiB, has as many with ids of 50 characters. */
export const MAX_DEVICES = 65_536;
/** Bytes of one device in a list, most of them its id. */
export const MAX_ID_BYTES = 4096;
/** One piece has at most so many devices, and so many bytes. */
const PIECE = 500;
const PIECE_BYTES = 32 * 1024;
const HEALTHY = "Healthy";
/** `repeated Device devices = 1` */
const DEVICES_FIELD = 1;

/** @throws DevicePluginError for more devices than the kubelet keeps */
export async function decodeDevices(bytes: Uint8Array, loop: { turn(): Promise<void> }): Promise<Devices> {
  const devices = new Map<string, PluginDevice>();
  const reader = new BinaryReader(bytes);
  let until = 0;
  for (let count = 0; reader.pos < reader.len;) {
    const [field, type] = reader.tag();
    if (field !== DEVICES_FIELD || type !== WireType.LengthDelimited) {
      reader.skip(type, field);
      continue;
    }
    if (count % PIECE === 0 || reader.pos > until) {
      await loop.turn();
      until = reader.pos + PIECE_BYTES;
    }
    if (++count > MAX_DEVICES) {
      throw new DevicePluginError(`the plugin reports more than ${MAX_DEVICES} devices, and the kubelet keeps no more`);
    }
    const one = reader.bytes();
    if (one.length > MAX_ID_BYTES) {
      throw new DevicePluginError(
        `the plugin reports a device of ${one.length} bytes, and the kubelet reads at most ${MAX_ID_BYTES}`,
      );
    }
    const device = Device.decode(one);
    devices.set(device.ID, deviceOf(device));
  }
  return devices;
}

/** Most devices are near no node: they share one object. */
const ANYWHERE = {
  healthy: { healthy: true, nodes: [] },
  unhealthy: { healthy: false, nodes: [] },
} as const satisfies Record<string, PluginDevice>;

function deviceOf({ health, topology }: Device): PluginDevice {
  const healthy = health === HEALTHY;
  const nodes = topology?.nodes ?? [];
  if (nodes.length === 0) return healthy ? ANYWHERE.healthy : ANYWHERE.unhealthy;
  return { healthy, nodes: nodes.map(({ ID }) => Number(ID)) };
}
