// The file <root-dir>/dra_health_state in upstream's form: by driver, by "pool/device". It spares containers of running
// pods the health Unknown while a kubelet restarts and the plugins register again.
// https://github.com/kubernetes/kubernetes/tree/v1.36.0/pkg/kubelet/cm/dra/state

import { recordOf, listOf, textOf, numberOf } from "../json-shape.js";
import { type Health, type KnownHealth, MAX_DEVICES, DEFAULT_TIMEOUT_MS } from "./device-health.js";

const NS_PER_MS = 1000000;
const HEALTHS: readonly Health[] = ["Healthy", "Unhealthy", "Unknown"];

export function encodeHealth(drivers: ReadonlyMap<string, readonly KnownHealth[]>): string {
  const entries = [...drivers].map(([driver, devices]) => {
    const Devices = Object.fromEntries(devices.map((one) => [`${one.pool}/${one.device}`, encodeDevice(one)]));
    return [driver, { Devices }] as const;
  });
  return JSON.stringify(Object.fromEntries(entries));
}

/**
 * `file`: as parsed from JSON. `now`: ms since the epoch. A time stamp of the future counts as now.
 * @throws Error when the file has another shape
 */
export function decodeHealth(file: unknown, now: number): Map<string, KnownHealth[]> {
  return new Map(
    Object.entries(recordOf(file, "the file")).map(([driver, state]) => {
      const devices = Object.values(recordOf(recordOf(state, "a driver's state")["Devices"] ?? {}, "Devices"));
      if (devices.length > MAX_DEVICES) throw new Error(`${devices.length} devices of driver ${driver}`);
      return [driver, listOf(devices, "Devices").map((device) => decodeDevice(recordOf(device, "a device"), now))];
    }),
  );
}

function encodeDevice({ pool, device, health, message, timeoutMs, reportedAt }: KnownHealth): object {
  return {
    PoolName: pool,
    DeviceName: device,
    Health: health,
    LastUpdated: new Date(reportedAt).toISOString(),
    HealthCheckTimeout: timeoutMs * NS_PER_MS,
    Message: message,
  };
}

function decodeDevice(entry: Record<string, unknown>, now: number): KnownHealth {
  const updatedAt = Date.parse(textOf(entry["LastUpdated"], "LastUpdated"));
  if (Number.isNaN(updatedAt)) throw new Error("LastUpdated is not a time");
  const timeout = numberOf(entry["HealthCheckTimeout"] ?? 0, "HealthCheckTimeout") / NS_PER_MS;
  return {
    pool: textOf(entry["PoolName"], "PoolName"),
    device: textOf(entry["DeviceName"], "DeviceName"),
    health: HEALTHS.find((health) => health === entry["Health"]) ?? "Unknown",
    message: textOf(entry["Message"] ?? "", "Message"),
    timeoutMs: timeout > 0 ? timeout : DEFAULT_TIMEOUT_MS,
    reportedAt: Math.min(now, updatedAt),
  };
}
