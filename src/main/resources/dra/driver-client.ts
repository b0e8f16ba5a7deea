// The plugin of a DRA driver over gRPC, by version v1 or v1beta1 of its API. Loaded with the first plugin that
// registers.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { statusName, PluginCallError } from "../../../shared/kubernetes/plugins/call-error.js";
import { PluginConnection, type UnaryMethod } from "../../../shared/kubernetes/plugins/connection.js";
import { DRAPluginService as V1, type Device as DeviceV1 } from "../../../shared/kubernetes/plugins/gen/dra.v1.js";
import { DRAPluginService as V1Beta1 } from "../../../shared/kubernetes/plugins/gen/dra.v1beta1.js";
import {
  DRAResourceHealthService,
  HealthStatus,
  type DeviceHealth as DeviceHealthMessage,
} from "../../../shared/kubernetes/plugins/gen/drahealth.v1alpha1.js";
import { hasMoreFields } from "../../../shared/kubernetes/plugins/has-more-fields.js";
import type { PreparedDevice } from "./claim-state.js";
import { DEFAULT_TIMEOUT_MS, type DeviceReport } from "./device-health.js";
import { DRIVER_CALL_MS, type DriverClient, type DriverServices } from "./driver-port.js";
import type { DraMetrics } from "./metrics.js";

export interface DialOptions {
  driver: string;
  /** Socket of the plugin; absolute. */
  endpoint: string;
  services: DriverServices;
  clock: Clock;
  metrics: Pick<DraMetrics, "called">;
}

export function dialDriver({ driver, endpoint, services, clock, metrics }: DialOptions): DriverClient {
  const { claims: service, health } = services;
  const connection = new PluginConnection(endpoint, clock);
  const measured = async <Request, Response>(
    name: string,
    method: UnaryMethod<Request, Response>,
    request: Request,
    signal: AbortSignal,
  ): Promise<Response> => {
    const startedAt = clock.monotonic();
    let code = "OK";
    try {
      return await connection.call(method, request, { timeoutMs: DRIVER_CALL_MS, maxBytes: MAX_REPLY_BYTES, signal });
    } catch (error) {
      code = error instanceof PluginCallError ? statusName(error.code) : "Unknown";
      throw error;
    } finally {
      metrics.called(driver, name, code, (clock.monotonic() - startedAt) / 1000);
    }
  };
  return {
    async prepare(claims, signal) {
      const method = service === "v1.DRAPlugin" ? V1.nodePrepareResources : V1Beta1.nodePrepareResources;
      const request = { claims: claims.map(({ namespace, uid, name }) => ({ namespace, uid, name })) };
      const reply = await measured(`/${service}/NodePrepareResources`, method, request, signal);
      return new Map(
        Object.entries(reply.claims).map(([uid, { error, devices }]) => [
          uid,
          {
            error,
            devices: devices.map(deviceOf),
          },
        ]),
      );
    },
    async unprepare(claims, signal) {
      const method = service === "v1.DRAPlugin" ? V1.nodeUnprepareResources : V1Beta1.nodeUnprepareResources;
      const request = { claims: claims.map(({ namespace, uid, name }) => ({ namespace, uid, name })) };
      const reply = await measured(`/${service}/NodeUnprepareResources`, method, request, signal);
      return new Map(Object.entries(reply.claims).map(([uid, { error }]) => [uid, error]));
    },
    watchHealth: (onReports, signal) =>
      connection.stream(
        {
          ...DRAResourceHealthService.nodeWatchResources,
          path: `/${health}/NodeWatchResources`,
          responseDeserialize: reportsOf,
        },
        {},
        onReports,
        signal,
        REPORT_GAP_MS,
      ),
    watchConnection: (onChange) => connection.watch(onChange),
    close: () => connection[Symbol.dispose](),
  };
}

/** v1beta1 has no share id. */
function deviceOf(device: Omit<DeviceV1, "shareId"> & Partial<Pick<DeviceV1, "shareId">>): PreparedDevice {
  const { poolName: pool, deviceName, requestNames: requests, cdiDeviceIds: cdiDevices, shareId } = device;
  return { pool, device: deviceName, shareId, requests, cdiDevices };
}

/** The response to a call about the claims of one pod. */
const MAX_REPLY_BYTES = 512 * 1024;
/** A message of as many devices as the kubelet keeps has about a megabyte. Bytes. */
export const MAX_REPORT_BYTES = 2 * 1024 * 1024;
/** Devices of a message. Empty ones have two bytes each, and take longer to decode than to send. */
const MAX_REPORTED = 16_384;
/** Between two messages of one plugin. Each counts, because it need not name all devices. */
const REPORT_GAP_MS = 100;

function reportsOf(bytes: Buffer): DeviceReport[] {
  if (bytes.length > MAX_REPORT_BYTES) {
    throw new Error(`a health report has ${bytes.length} bytes, and the kubelet reads at most ${MAX_REPORT_BYTES}`);
  }
  if (hasMoreFields(bytes, MAX_REPORTED)) {
    throw new Error(`a health report has more than ${MAX_REPORTED} devices, and the kubelet reads no more`);
  }
  return DRAResourceHealthService.nodeWatchResources.responseDeserialize(bytes).devices.map(reportOf);
}

/** The API's limit of a message, in bytes. */
const MESSAGE_BYTES = 1024;
const CUT = "...";
/** Half a character at the end becomes U+FFFD, of three bytes. */
const REPLACEMENT_BYTES = 3;

function reportOf({ device, health, healthCheckTimeoutSeconds, message }: DeviceHealthMessage): DeviceReport {
  const seconds = Number(healthCheckTimeoutSeconds);
  return {
    pool: device?.poolName ?? "",
    device: device?.deviceName ?? "",
    health: health === HealthStatus.HEALTHY ? "Healthy" : health === HealthStatus.UNHEALTHY ? "Unhealthy" : "Unknown",
    message: limited(message),
    timeoutMs: seconds > 0 ? seconds * 1000 : DEFAULT_TIMEOUT_MS,
  };
}

function limited(message: string): string {
  if (Buffer.byteLength(message) <= MESSAGE_BYTES) return message;
  const kept = Buffer.from(message).subarray(0, MESSAGE_BYTES - CUT.length - REPLACEMENT_BYTES);
  return `${kept.toString()}${CUT}`;
}
