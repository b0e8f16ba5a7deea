// A device plugin's socket over gRPC. Loaded with the first plugin that registers.
import type { Clock } from "../../../shared/clock/clock.js";
import { isPluginCallError, STATUS } from "../../../shared/plugins/call-error.js";
import { PluginConnection, type UnaryMethod } from "../../../shared/plugins/connection.js";
import { DevicePluginService } from "../../../shared/plugins/gen/deviceplugin.v1beta1.js";
import { LoopShare } from "../../../shared/turns/loop-share.js";
import { decodeDevices } from "./decode-devices.js";
import type { DevicePluginClient } from "./plugin-port.js";

/** A plugin may register before it serves: it is waited for that long. */
const CONNECT_MS = 10_000;
/** Upstream waits for ever; a plugin that hangs would keep every later pod from being admitted. */
const ALLOCATE_MS = 120_000;
/** The same for a plugin whose last such call had no response in time, until it responds. */
const SUSPECT_MS = 2_000;
/** Timeouts of https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/ */
const PRE_START_MS = 30_000;
/** Between two lists of one plugin that the kubelet takes; of those that come meanwhile, it takes the newest. */
const LIST_GAP_MS = 500;

export function dialDevicePlugin(socket: string, clock: Clock): DevicePluginClient {
  const connection = new PluginConnection(socket, clock);
  const share = new LoopShare(clock);
  let isSuspect = false;
  /** A call in an admission, for which all later pods wait. */
  const inAdmission = async <Request, Response>(
    method: UnaryMethod<Request, Response>,
    request: Request,
    signal: AbortSignal,
  ): Promise<Response> => {
    try {
      const timeoutMs = isSuspect ? SUSPECT_MS : ALLOCATE_MS;
      const response = await connection.call(method, request, { timeoutMs, signal });
      isSuspect = false;
      return response;
    } catch (error) {
      if (isPluginCallError(error)) isSuspect = error.code === STATUS.DEADLINE_EXCEEDED;
      throw error;
    }
  };
  return {
    async options(signal) {
      const options = { timeoutMs: CONNECT_MS, waitForReady: true, signal };
      return connection.call(DevicePluginService.getDevicePluginOptions, {}, options);
    },
    watch(onDevices, signal) {
      const take = async (bytes: Buffer, current: AbortSignal): Promise<void> => {
        const devices = await decodeDevices(bytes, share);
        if (!current.aborted) onDevices(devices, bytes.length);
      };
      return connection.newest(DevicePluginService.listAndWatch, {}, { gapMs: LIST_GAP_MS, take }, signal);
    },
    async preferred({ available, mustInclude, size }, signal) {
      const request = {
        availableDeviceIDs: [...available],
        mustIncludeDeviceIDs: [...mustInclude],
        allocationSize: size,
      };
      const requests = { containerRequests: [request] };
      const { containerResponses } = await inAdmission(DevicePluginService.getPreferredAllocation, requests, signal);
      return containerResponses[0]?.deviceIDs ?? [];
    },
    async allocate(ids, signal) {
      const request = { containerRequests: [{ devicesIds: [...ids] }] };
      const { containerResponses } = await inAdmission(DevicePluginService.allocate, request, signal);
      return containerResponses[0];
    },
    async preStart(ids, signal) {
      const options = { timeoutMs: PRE_START_MS, signal };
      await connection.call(DevicePluginService.preStartContainer, { devicesIds: [...ids] }, options);
    },
    close: () => connection[Symbol.dispose](),
  };
}
