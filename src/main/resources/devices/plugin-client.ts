// A device plugin's socket over gRPC. Loaded with the first plugin that registers.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { LoopShare } from "../../../shared/base/turns/loop-share.js";
import { STATUS, PluginCallError } from "../../../shared/kubernetes/plugins/call-error.js";
import {
  PluginConnection,
  SMALL_RESPONSE_BYTES,
  type UnaryMethod,
} from "../../../shared/kubernetes/plugins/connection.js";
import { DevicePluginService } from "../../../shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js";
import { decodeDevices, MAX_ID_BYTES } from "./decode-devices.js";
import type { DevicePluginClient } from "./plugin-port.js";

/** A plugin may register before it serves: it is waited for that long. */
const CONNECT_MS = 10_000;
/** Upstream waits for ever; pods that need the plugin's devices wait for each other's calls. */
const ALLOCATE_MS = 120_000;
/** Deadline of the call to a plugin that missed the last one, until it responds. */
const SUSPECT_MS = 2_000;
/** Timeouts of https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/ */
const PRE_START_MS = 30_000;
/** Bytes of the response for one container. It is kept while the pod is there, and written with those of all others. */
const MAX_ALLOCATION_BYTES = 256 * 1024;
/** Between two lists of one plugin that the kubelet takes; of those that come meanwhile, it takes the newest. */
const LIST_GAP_MS = 500;

export function dialDevicePlugin(
  socket: string,
  clock: Clock,
  connection: Pick<PluginConnection, "call" | "newest"> & Disposable = new PluginConnection(socket, clock),
): DevicePluginClient {
  const share = new LoopShare(clock);
  let isSuspect = false;
  /** A call in an admission. Later pods that need the plugin's devices wait for it. */
  const inAdmission = async <Request, Response>(
    method: UnaryMethod<Request, Response>,
    request: Request,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Response> => {
    try {
      const timeoutMs = isSuspect ? SUSPECT_MS : ALLOCATE_MS;
      const response = await connection.call(method, request, { timeoutMs, maxBytes, signal });
      isSuspect = false;
      return response;
    } catch (error) {
      if (error instanceof PluginCallError) isSuspect = error.code === STATUS.DEADLINE_EXCEEDED;
      throw error;
    }
  };
  return {
    async options(signal) {
      const options = { timeoutMs: CONNECT_MS, waitForReady: true, maxBytes: SMALL_RESPONSE_BYTES, signal };
      return connection.call(DevicePluginService.getDevicePluginOptions, {}, options);
    },
    watch(onDevices, signal) {
      const take = async (bytes: Buffer, current: AbortSignal): Promise<void> => {
        const devices = await decodeDevices(bytes, share);
        if (!current.aborted) await onDevices(devices, bytes.length);
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
      const maxBytes = SMALL_RESPONSE_BYTES + size * MAX_ID_BYTES;
      const method = DevicePluginService.getPreferredAllocation;
      const { containerResponses } = await inAdmission(method, requests, maxBytes, signal);
      return containerResponses[0]?.deviceIDs ?? [];
    },
    async allocate(ids, signal) {
      const request = { containerRequests: [{ devicesIds: [...ids] }] };
      const method = DevicePluginService.allocate;
      const { containerResponses } = await inAdmission(method, request, MAX_ALLOCATION_BYTES, signal);
      return containerResponses[0];
    },
    async preStart(ids, signal) {
      const options = { timeoutMs: PRE_START_MS, maxBytes: SMALL_RESPONSE_BYTES, signal };
      await connection.call(DevicePluginService.preStartContainer, { devicesIds: [...ids] }, options);
    },
    close: () => connection[Symbol.dispose](),
  };
}
