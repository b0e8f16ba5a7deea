// The health streams of the plugins of DRA drivers, each kept open while its plugin is registered (KEP-4680).
// Invariant: a stream that ends is opened again after RETRY_MS; a plugin without the service is not called again; a
// fault of one plugin ends only its own stream.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { PluginCallError, STATUS } from "../../../shared/kubernetes/plugins/call-error.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { DeviceHealth } from "./device-health.js";
import type { DriverClient } from "./driver-port.js";

/** Upstream's. */
const RETRY_MS = 5000;

export interface HealthStreamsOptions {
  health: Pick<DeviceHealth, "report" | "ended">;
  clock: Clock;
  log: Logger;
}

export class HealthStreams {
  private readonly running = new Set<Promise<void>>();

  constructor(private readonly options: HealthStreamsOptions) {}

  /** Until the signal aborts. */
  keepOpen(driver: string, client: Pick<DriverClient, "watchHealth">, signal: AbortSignal): void {
    const running = this.run(driver, client, signal).finally(() => this.running.delete(running));
    this.running.add(running);
  }

  /** Resolves when every stream has ended; their signals have aborted. */
  async settled(): Promise<void> {
    await Promise.all(this.running);
  }

  private async run(driver: string, client: Pick<DriverClient, "watchHealth">, signal: AbortSignal): Promise<void> {
    const { health, clock, log } = this.options;
    const ended = (): boolean => signal.aborted;
    while (!ended()) {
      const stream = {};
      try {
        await client.watchHealth((reports) => health.report(driver, reports, stream), signal);
        log.info({ driver }, `the health stream of DRA driver ${driver} was closed; opening it again`);
      } catch (error) {
        if (ended()) return;
        if (error instanceof PluginCallError && error.code === STATUS.UNIMPLEMENTED) {
          log.debug({ driver }, `DRA driver ${driver} does not report the health of its devices`);
          return;
        }
        log.info(
          { driver, err: error },
          `the health stream of DRA driver ${driver} failed: ${errorText(error)}; opening it again`,
        );
      } finally {
        health.ended(driver, stream);
      }
      await clock.sleep(RETRY_MS, signal).catch(() => undefined);
    }
  }
}
