// A device plugin's socket over gRPC. Loaded with the first plugin that registers.
import type { Clock } from "../../../shared/clock/clock.js";
import { PluginConnection } from "../../../shared/plugins/connection.js";
import { DevicePluginService, type Device } from "../../../shared/plugins/gen/deviceplugin.v1beta1.js";
import type { DevicePluginClient, PluginDevice } from "./plugin-port.js";

/** A plugin may register before it serves: it is waited for that long. */
const CONNECT_MS = 10_000;
/** Upstream waits for ever; a plugin that hangs would keep every later pod from being admitted. */
const ALLOCATE_MS = 120_000;
/** Timeouts of https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/ */
const PRE_START_MS = 30_000;
const HEALTHY = "Healthy";

export function dialDevicePlugin(socket: string, clock: Clock): DevicePluginClient {
  const connection = new PluginConnection(socket, clock);
  return {
    async options(signal) {
      const options = { timeoutMs: CONNECT_MS, waitForReady: true, signal };
      return connection.call(DevicePluginService.getDevicePluginOptions, {}, options);
    },
    watch(onDevices, signal) {
      return connection.stream(
        DevicePluginService.listAndWatch,
        {},
        ({ devices }) => onDevices(new Map(devices.map((device) => [device.ID, deviceOf(device)]))),
        signal,
      );
    },
    async preferred({ available, mustInclude, size }, signal) {
      const request = {
        availableDeviceIDs: [...available],
        mustIncludeDeviceIDs: [...mustInclude],
        allocationSize: size,
      };
      const { containerResponses } = await connection.call(
        DevicePluginService.getPreferredAllocation,
        { containerRequests: [request] },
        { timeoutMs: ALLOCATE_MS, signal },
      );
      return containerResponses[0]?.deviceIDs ?? [];
    },
    async allocate(ids, signal) {
      const request = { containerRequests: [{ devicesIds: [...ids] }] };
      const options = { timeoutMs: ALLOCATE_MS, signal };
      const { containerResponses } = await connection.call(DevicePluginService.allocate, request, options);
      return containerResponses[0];
    },
    async preStart(ids, signal) {
      const options = { timeoutMs: PRE_START_MS, signal };
      await connection.call(DevicePluginService.preStartContainer, { devicesIds: [...ids] }, options);
    },
    close: () => connection[Symbol.dispose](),
  };
}

function deviceOf({ health, topology }: Device): PluginDevice {
  return { healthy: health === HEALTHY, nodes: (topology?.nodes ?? []).map(({ ID }) => Number(ID)) };
}
