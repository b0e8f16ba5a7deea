// Start and end of the last graceful shutdown: <rootDir>/graceful_node_shutdown_state, in upstream's format. Metrics
// show the duration after the next boot.

import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { readState } from "../../../shared/io/fs/state-file.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

const FILE = "graceful_node_shutdown_state";
/** A Go time that is not set, as JSON. */
const NEVER = "0001-01-01T00:00:00Z";

/** Milliseconds since the epoch; absent: not (yet) reached. */
export interface ShutdownTimes {
  start?: number | undefined;
  end?: number | undefined;
}

export class ShutdownState {
  private readonly path: string;

  constructor(
    rootDir: string,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.path = join(rootDir, FILE);
  }

  /** Never rejects: garbage is set aside with a warning, and what can't be read is none. */
  async read(): Promise<ShutdownTimes> {
    const { path, clock, log } = this;
    try {
      return (await readState(path, decode, { clock, log })) ?? {};
    } catch (error) {
      log.warn({ path, err: error }, `${path} can't be read: ${errorText(error)}; starting without it`);
      return {};
    }
  }

  /** Survives the machine's end. Never rejects: a shutdown does not wait for a disk that is full. */
  async write({ start, end }: ShutdownTimes): Promise<void> {
    try {
      await atomicWrite(this.path, JSON.stringify({ startTime: written(start), endTime: written(end) }));
    } catch (error) {
      this.log.warn({ path: this.path, err: error }, `${this.path} can't be written: ${errorText(error)}`);
    }
  }
}

function decode(value: unknown): ShutdownTimes {
  const { startTime, endTime } = (value ?? {}) as { startTime?: unknown; endTime?: unknown };
  const [start, end] = [time(startTime, "startTime"), time(endTime, "endTime")];
  return omitUndefined<ShutdownTimes>({ start, end });
}

function time(value: unknown, name: string): number | undefined {
  if (value === undefined || value === NEVER) return undefined;
  const found = typeof value === "string" ? Date.parse(value) : NaN;
  if (!Number.isFinite(found)) throw new Error(`${name} is no time`);
  return found;
}

function written(time: number | undefined): string {
  return time === undefined ? NEVER : new Date(time).toISOString();
}
