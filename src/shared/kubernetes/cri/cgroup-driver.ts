// Which cgroup driver to use: the runtime's word where it offers RuntimeConfig, else the configuration's.

import type { Clock } from "../../base/clock/clock.js";
import { CriCancelledError, CriUnimplementedError } from "./errors.js";
import { CgroupDriver } from "./gen/runtime.v1.js";
import type { CallOptions, CriCalls } from "./verbs.js";

export type CgroupDriverName = "systemd" | "cgroupfs";

export interface CgroupDriverChoice {
  driver: CgroupDriverName;
  source: "runtime" | "configuration";
  /** Why the configuration decides; for the log. */
  reason?: string;
  /** The runtime is too old for RuntimeConfig. */
  callMissing?: true;
}

const DRIVERS: ReadonlyMap<CgroupDriver, CgroupDriverName> = new Map([
  [CgroupDriver.SYSTEMD, "systemd"],
  [CgroupDriver.CGROUPFS, "cgroupfs"],
]);

const TRIES = 3;
const PAUSE_MS = 2000;

export interface AskOptions extends CallOptions {
  clock: Clock;
  /** Default 3. */
  tries?: number;
  /** Milliseconds between tries; default 2000. */
  pauseMs?: number;
}

/**
 * Asks up to `tries` times. A runtime without the call (containerd before 2.0) or without the answer leaves
 * the choice to `configured`. Throws the last CriError when every try failed.
 */
export async function chooseCgroupDriver(
  client: Pick<CriCalls, "runtimeConfig">,
  configured: CgroupDriverName,
  { clock, tries = TRIES, pauseMs = PAUSE_MS, ...options }: AskOptions,
): Promise<CgroupDriverChoice> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { linux } = await client.runtimeConfig({}, options);
      const driver = linux === undefined ? undefined : DRIVERS.get(linux.cgroupDriver);
      if (driver !== undefined) return { driver, source: "runtime" };
      return { driver: configured, source: "configuration", reason: "the runtime names no known cgroup driver" };
    } catch (error) {
      if (error instanceof CriUnimplementedError) {
        const reason = "the runtime has no RuntimeConfig call";
        return { driver: configured, source: "configuration", reason, callMissing: true };
      }
      if (error instanceof CriCancelledError || attempt === tries) throw error;
      await clock.sleep(pauseMs, options.signal);
    }
  }
}
