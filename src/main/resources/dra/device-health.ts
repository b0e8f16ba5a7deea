// The health of the devices of DRA drivers, as their plugins report it (KEP-4680), in memory and in <root-dir>/dra_health_state.
// Invariant: a report counts until its device's timeout; after that, and without a report, the health is Unknown.
import type { Clock, Timer } from "../../../shared/clock/clock.js";
import { listOf, numberOf, recordOf, textOf } from "../json-shape.js";

/** Upstream's, for a device whose plugin names none. */
export const DEFAULT_TIMEOUT_MS = 30_000;
/** Devices of one driver that are kept: a plugin that reports more is refused. */
export const MAX_DEVICES = 10_000;

export interface DeviceRef {
  pool: string;
  device: string;
}

type Health = "Healthy" | "Unhealthy" | "Unknown";

export interface DeviceReport extends DeviceRef {
  health: Health;
  /** "": none. */
  message: string;
  /** The report counts for this long; ms. */
  timeoutMs: number;
}

/** A report, and when it came. */
export interface KnownHealth extends DeviceReport {
  /** Of the clock that is never set; ms since the epoch. */
  reportedAt: number;
}

/** A plugin reports more devices than the kubelet keeps. */
class TooManyDevicesError extends Error {
  override readonly name = "TooManyDevicesError";
}

interface Reports {
  /** The stream of the newest report. */
  from: object;
  devices: Map<string, KnownHealth>;
}

export interface DeviceHealthOptions {
  /** The health of these devices of the driver may differ now. */
  onChange(driver: string, devices: readonly DeviceRef[]): void;
  clock: Pick<Clock, "steady" | "after">;
}

export class DeviceHealth {
  private readonly drivers = new Map<string, Reports>();
  private timer: Timer | undefined;

  constructor(private readonly options: DeviceHealthOptions) {}

  of(driver: string, { pool, device }: DeviceRef): Pick<DeviceReport, "health" | "message"> {
    const known = this.drivers.get(driver)?.devices.get(keyOf({ pool, device }));
    if (known === undefined || this.isOver(known)) return { health: "Unknown", message: "" };
    return known;
  }

  /** All devices that count now, by driver. */
  all(): ReadonlyMap<string, readonly KnownHealth[]> {
    return new Map(
      [...this.drivers].map(([driver, { devices }]) => [
        driver,
        [...devices.values()].filter((one) => !this.isOver(one)),
      ]),
    );
  }

  /** Restores the state of an earlier kubelet process. A report that came meanwhile takes precedence. */
  restore(earlier: ReadonlyMap<string, readonly KnownHealth[]>): void {
    for (const [driver, devices] of earlier) {
      if (this.drivers.has(driver)) continue;
      this.drivers.set(driver, { from: {}, devices: new Map(devices.map((one) => [keyOf(one), one])) });
    }
    this.expireLater();
  }

  /** A message of a stream: devices that it leaves out keep their last report. `from` stands for the stream. @throws TooManyDevicesError */
  report(driver: string, reports: readonly DeviceReport[], from: object): void {
    const devices = this.drivers.get(driver)?.devices ?? new Map<string, KnownHealth>();
    const reportedAt = this.options.clock.steady();
    const changed: DeviceRef[] = [];
    for (const report of reports) {
      const key = keyOf(report);
      if (!isSame(devices.get(key), report)) changed.push(report);
      devices.set(key, { ...report, reportedAt });
    }
    this.drivers.set(driver, { from, devices });
    if (devices.size > MAX_DEVICES) {
      this.drivers.delete(driver);
      throw new TooManyDevicesError(`DRA driver ${driver} reports the health of more than ${MAX_DEVICES} devices`);
    }
    this.expireLater();
    if (changed.length > 0) this.options.onChange(driver, changed);
  }

  /** The stream has ended: its reports no longer count, unless another stream of the driver has reported since. */
  ended(driver: string, from: object): void {
    const known = this.drivers.get(driver);
    if (known?.from !== from) return;
    this.drivers.delete(driver);
    this.options.onChange(driver, [...known.devices.values()]);
  }

  stop(): void {
    this.timer?.cancel();
  }

  private isOver({ reportedAt, timeoutMs }: KnownHealth): boolean {
    return this.options.clock.steady() - reportedAt >= timeoutMs;
  }

  /** Removes reports after their timeout, and logs it: their driver may send no further report. */
  private expire(): void {
    for (const [driver, { devices }] of this.drivers) {
      const over = [...devices].filter(([, known]) => this.isOver(known));
      for (const [key] of over) devices.delete(key);
      if (over.length > 0)
        this.options.onChange(
          driver,
          over.map(([, known]) => known),
        );
    }
    this.expireLater();
  }

  private expireLater(): void {
    this.timer?.cancel();
    this.timer = undefined;
    let next = Infinity;
    for (const { devices } of this.drivers.values()) {
      for (const { reportedAt, timeoutMs } of devices.values()) next = Math.min(next, reportedAt + timeoutMs);
    }
    if (next === Infinity) return;
    const inMs = Math.max(1, next - this.options.clock.steady());
    this.timer = this.options.clock.after(inMs, () => this.expire());
  }
}

function keyOf({ pool, device }: DeviceRef): string {
  return `${pool}/${device}`;
}

function isSame(known: KnownHealth | undefined, { health, message, timeoutMs }: DeviceReport): boolean {
  return known?.health === health && known.message === message && known.timeoutMs === timeoutMs;
}

// The file <root-dir>/dra_health_state in upstream's form: by driver, by "pool/device". It spares containers of running pods the health
// Unknown while a kubelet restarts and the plugins register again.
// https://github.com/kubernetes/kubernetes/tree/v1.36.0/pkg/kubelet/cm/dra/state

const NS_PER_MS = 1_000_000;
const HEALTHS: readonly Health[] = ["Healthy", "Unhealthy", "Unknown"];

export function encodeHealth(drivers: ReadonlyMap<string, readonly KnownHealth[]>): string {
  const entries = [...drivers].map(([driver, devices]) => {
    const Devices = Object.fromEntries(devices.map((one) => [`${one.pool}/${one.device}`, encodeDevice(one)]));
    return [driver, { Devices }] as const;
  });
  return JSON.stringify(Object.fromEntries(entries));
}

/** `file`: as parsed from JSON. `now`: ms since the epoch. A time stamp of the future counts as now. @throws Error when the file has another shape */
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
