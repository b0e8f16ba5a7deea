// The health of the devices of the simulated DRA driver. Its streams report all devices as they begin and every few
// seconds, and a change at once.
// Invariant: `reports` has what was last sent of each device that is there.

import {
  DRAResourceHealthService,
  HealthStatus,
} from "../../../src/shared/kubernetes/plugins/gen/drahealth.v1alpha1.js";
import { kernel } from "../kernel/kernel.js";
import type { Reply, Served } from "./runtime.js";

const POOL = "pool";
export const HEALTHS = ["Healthy", "Unhealthy", "Unknown"] as const;
export type Health = (typeof HEALTHS)[number];

/** Changes in the driver: no fault of the node. */
export type HealthChange =
  /** A device, and healthy again after `ms`. */
  | { do: "health-changes"; pick: number; health: Health; ms: number }
  /** Streams stay open and send nothing. */
  | { do: "health-quiet"; ms: number }
  | { do: "health-streams-end" };

const BEAT_MS = 8000;
/** The kubelet's own timeout, for a device that names none. */
const USUAL_TIMEOUT_MS = 30_000;
const SHORT_TIMEOUT_MS = 20_000;
/** The status shows a report, or that it is too old, so soon. */
export const SHOWN_MS = 15_000;

interface Report {
  health: Health;
  sentAt: number;
  /** That health was sent since then, without a pause. */
  since: number;
}

const STATUS: Readonly<Record<Health, HealthStatus>> = {
  Healthy: HealthStatus.HEALTHY,
  Unhealthy: HealthStatus.UNHEALTHY,
  Unknown: HealthStatus.UNKNOWN,
};

export class DeviceHealths {
  private readonly devices = new Map<string, Health>();
  private readonly reports = new Map<string, Report>();
  private readonly streams = new Set<Reply>();
  /** Steady moment at which a stream last began or ended. */
  private streamsChangedAt = 0;
  private isQuiet = false;

  get isWatched(): boolean {
    return this.streams.size > 0;
  }

  perform(change: HealthChange): void {
    switch (change.do) {
      case "health-changes": {
        const device = [...this.devices.keys()][change.pick % Math.max(1, this.devices.size)];
        if (device === undefined) return;
        this.set(device, change.health);
        kernel.after(kernel.world, change.ms, () => {
          if (this.devices.has(device)) this.set(device, "Healthy");
        });
        return;
      }
      case "health-quiet":
        this.isQuiet = true;
        kernel.after(kernel.world, change.ms, () => {
          this.isQuiet = false;
        });
        return;
      case "health-streams-end":
        this.endStreams((stream) => stream.end());
    }
  }

  add(device: string): void {
    if (!this.devices.has(device)) this.set(device, "Healthy");
  }
  remove(device: string): void {
    this.devices.delete(device);
    this.reports.delete(device);
  }

  /** A call of NodeWatchResources. */
  watch(stream: Reply): Served {
    this.streams.add(stream);
    this.streamsChangedAt = kernel.monotonic;
    const beat = (): void => {
      if (!this.streams.has(stream)) return;
      this.send([...this.devices.keys()], [stream]);
      kernel.after(kernel.world, BEAT_MS, beat);
    };
    beat();
    return { cancel: () => this.forget(stream) };
  }

  /** The driver's process ends. */
  close(): void {
    this.endStreams((stream) => stream.failed({ code: 14, details: "the driver has ended" }));
  }

  /** What the status of a pod with the device must show now; undefined: it may change in these moments. */
  shown(device: string): Health | undefined {
    const now = kernel.monotonic;
    if (now - this.streamsChangedAt < SHOWN_MS) return undefined;
    const report = this.reports.get(device);
    if (report === undefined) return "Unknown";
    const age = now - report.sentAt;
    const timeout = timeoutOf(device);
    if (age > timeout + SHOWN_MS) return "Unknown";
    // With its stream a report may be gone, too, as upstream has it.
    if (report.sentAt < this.streamsChangedAt) return undefined;
    return this.isWatched && age < timeout && now - report.since > SHOWN_MS ? report.health : undefined;
  }

  private set(device: string, health: Health): void {
    this.devices.set(device, health);
    this.send([device], this.streams);
  }

  private send(devices: readonly string[], to: Iterable<Reply>): void {
    if (this.isQuiet) return;
    const streams = [...to];
    if (streams.length === 0) return;
    const now = kernel.monotonic;
    const entries = devices.map((device) => {
      const health = this.devices.get(device) ?? "Unknown";
      const before = this.reports.get(device);
      const goesOn = before?.health === health && now - before.sentAt < timeoutOf(device);
      this.reports.set(device, { health, sentAt: now, since: goesOn ? before.since : now });
      return {
        device: { poolName: POOL, deviceName: device },
        health: STATUS[health],
        lastUpdatedTime: BigInt(Math.floor(kernel.wall / 1000)),
        healthCheckTimeoutSeconds: hasShortTimeout(device) ? BigInt(SHORT_TIMEOUT_MS / 1000) : 0n,
        message: health === "Healthy" ? "" : `it is ${health}`,
      };
    });
    const bytes = DRAResourceHealthService.nodeWatchResources.responseSerialize({ devices: entries });
    for (const stream of streams) stream.message(bytes);
  }

  private endStreams(end: (stream: Reply) => void): void {
    for (const stream of [...this.streams]) {
      this.forget(stream);
      end(stream);
    }
  }

  private forget(stream: Reply): void {
    if (this.streams.delete(stream)) this.streamsChangedAt = kernel.monotonic;
  }
}

function hasShortTimeout(device: string): boolean {
  return device.endsWith("two");
}

function timeoutOf(device: string): number {
  return hasShortTimeout(device) ? SHORT_TIMEOUT_MS : USUAL_TIMEOUT_MS;
}
