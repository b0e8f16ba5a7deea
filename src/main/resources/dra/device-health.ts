// The health of the devices of DRA drivers, as their plugins report it (KEP-4680), in memory and in
// <root-dir>/dra_health_state.
// Invariant: a report counts until its device's timeout; after that, and without a report, the health is Unknown.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { DraError } from "./dra-error.js";

/** Upstream's, for a device whose plugin names none. */
export const DEFAULT_TIMEOUT_MS = 30_000;
/** Devices of one driver that are kept: a plugin that reports more is refused. */
export const MAX_DEVICES = 10_000;

export interface DeviceRef {
  pool: string;
  device: string;
}

export type Health = "Healthy" | "Unhealthy" | "Unknown";

export interface DeviceReport extends DeviceRef {
  health: Health;
  /** "": none. */
  message: string;
  /** The report counts for this long; ms. */
  timeoutMs: number;
}

/** A report, and when it came. */
export interface KnownHealth extends DeviceReport {
  /** Time of the report in ms since the epoch, by a clock that is never set. */
  reportedAt: number;
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

  /**
   * A message of a stream: devices that it leaves out keep their last report. `from` stands for the stream.
   * @throws DraError
   */
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
      throw new DraError(`DRA driver ${driver} reports the health of more than ${MAX_DEVICES} devices`);
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
