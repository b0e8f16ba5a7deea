// A device plugin's socket over gRPC. Loaded with the first plugin that registers.
import type { Clock } from "../../../shared/clock/clock.js";
import { PluginConnection } from "../../../shared/plugins/connection.js";
import { DevicePluginService } from "../../../shared/plugins/gen/deviceplugin.v1beta1.js";
import { LoopShare } from "../../../shared/turns/loop-share.js";
import { decodeDevices } from "./decode-devices.js";
import type { DevicePluginClient } from "./plugin-port.js";

/** A plugin may register before it serves: it is waited for that long. */
const CONNECT_MS = 10_000;
/** Upstream waits for ever; a plugin that hangs would keep every later pod from being admitted. */
const ALLOCATE_MS = 120_000;
/** Timeouts of https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/ */
const PRE_START_MS = 30_000;
/** Between two lists of one plugin that the kubelet takes; of those that come meanwhile, it takes the newest. */
const LIST_GAP_MS = 500;

export function dialDevicePlugin(socket: string, clock: Clock): DevicePluginClient {
  const connection = new PluginConnection(socket, clock);
  const share = new LoopShare(clock);
  return {
    async options(signal) {
      const options = { timeoutMs: CONNECT_MS, waitForReady: true, signal };
      return connection.call(DevicePluginService.getDevicePluginOptions, {}, options);
    },
    watch(onDevices, signal) {
      const take = async (bytes: Buffer, current: AbortSignal): Promise<void> => {
        const devices = await decodeDevices(bytes, share);
        if (!current.aborted) onDevices(devices);
      };
      return connection.newest(DevicePluginService.listAndWatch, {}, { gapMs: LIST_GAP_MS, take }, signal);
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
