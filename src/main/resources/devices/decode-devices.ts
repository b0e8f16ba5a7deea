// Decodes a list of devices, ListAndWatchResponse, in pieces: a plugin may report tens of thousands, and the main thread decodes them.
// Invariant: the event loop turns between the pieces; a list of more devices than MAX_DEVICES is refused before it counts.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Device } from "../../../shared/plugins/gen/deviceplugin.v1beta1.js";
import { DevicePluginError, type Devices, type PluginDevice } from "./plugin-port.js";

/** gRPC's limit of a message, 4 MiB, has as many with ids of 50 characters. */
export const MAX_DEVICES = 65_536;
/** Devices of one piece. */
const PIECE = 500;
const HEALTHY = "Healthy";
/** `repeated Device devices = 1` */
const DEVICES_FIELD = 1;

/** @throws DevicePluginError for more devices than the kubelet keeps */
export async function decodeDevices(bytes: Uint8Array, loop: { turn(): Promise<void> }): Promise<Devices> {
  const devices = new Map<string, PluginDevice>();
  const reader = new BinaryReader(bytes);
  for (let count = 0; reader.pos < reader.len;) {
    const [field, type] = reader.tag();
    if (field !== DEVICES_FIELD || type !== WireType.LengthDelimited) {
      reader.skip(type, field);
      continue;
    }
    if (count % PIECE === 0) await loop.turn();
    if (++count > MAX_DEVICES) {
      throw new DevicePluginError(`the plugin reports more than ${MAX_DEVICES} devices, and the kubelet keeps no more`);
    }
    const device = Device.decode(reader.bytes());
    devices.set(device.ID, deviceOf(device));
  }
  return devices;
}

function deviceOf({ health, topology }: Device): PluginDevice {
  return { healthy: health === HEALTHY, nodes: (topology?.nodes ?? []).map(({ ID }) => Number(ID)) };
}
