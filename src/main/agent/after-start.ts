// Work that begins shortly after the start, when the first pods are starting. It makes the iptables chains, warns about the machine, and
// measures the delay of the event loop.
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Clock } from "../../shared/clock/clock.js";
import { messageOf } from "../../shared/errors/thrown.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import type { EventRecorder } from "../model/event-recorder.js";
import type { MachineSettings } from "../node/machine-warnings.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";

const IPTABLES_DELAY_MS = 5000;

export interface LateIptablesDeps {
  /** The field: false disables this. */
  makeIPTablesUtilChains: boolean;
  clock: Clock;
  log: Logger;
}

export function startLateIptables({ makeIPTablesUtilChains, clock, log: parent }: LateIptablesDeps): {
  stop(): Promise<void>;
} {
  const ending = new AbortController();
  const { signal } = ending;
  const log = moduleLogger(parent, "iptables");
  const run = async (): Promise<void> => {
    await clock.sleep(IPTABLES_DELAY_MS, signal);
    const { keepIptablesChains } = await import("../network/iptables-chains.js");
    await Promise.all([
      keepIptablesChains({ program: "iptables", firewall: true, clock, log }, signal),
      keepIptablesChains({ program: "ip6tables", firewall: false, clock, log }, signal),
    ]);
  };
  const running = makeIPTablesUtilChains
    ? run().catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, `cannot maintain the chains in iptables: ${messageOf(error)}`);
      })
    : Promise.resolve();
  return {
    async stop() {
      ending.abort(new Error("the kubelet is stopping"));
      await running;
    },
  };
}

// Checks the machine for problems that an operator should know, after the first pods have started.

const WARNINGS_DELAY_MS = 2000;

export function startLateWarnings(
  settings: MachineSettings,
  { events, clock, log }: { events: EventRecorder; clock: Clock; log: Logger },
): { stop(): Promise<void> } {
  const ending = new AbortController();
  const running = clock
    .sleep(WARNINGS_DELAY_MS, ending.signal)
    .then(async () => (await import("../node/machine-warnings.js")).emitMachineWarnings(settings, events))
    .catch((error: unknown) => {
      if (!ending.signal.aborted) moduleLogger(log, "node").warn({ err: error }, "cannot inspect the machine");
    });
  return {
    async stop() {
      ending.abort(new Error("the kubelet is stopping"));
      await running;
    },
  };
}

// Event-loop delay of this thread, as quantiles since the last snapshot. A sync waits for so long in addition to its work.

/** Sampled natively, without waking JavaScript. */
const RESOLUTION_MS = 50;

const QUANTILES = [0.5, 0.9, 0.99, 1];

/** Publishes the summary `nodelet_loop_delay_seconds{thread}`. Returns a function that ends the sampling. */
export function watchLoopDelay(registry: ThreadRegistry): () => void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  const seconds = (nanos: number): number => Math.max(0, nanos / 1e9 - RESOLUTION_MS / 1000);
  let [sum, count] = [0, 0];
  const help = "Event loop delay since the last scrape in seconds";
  registry.summary("nodelet_loop_delay_seconds", help, ["thread"], () => {
    const quantiles = QUANTILES.map((quantile) => {
      const nanos = quantile === 1 ? histogram.max : histogram.percentile(quantile * 100);
      return [quantile, seconds(nanos)] as const;
    });
    // Without a sample the mean is NaN.
    if (histogram.count > 0) sum += seconds(histogram.mean) * histogram.count;
    count += histogram.count;
    histogram.reset();
    return [{ labels: { thread: registry.thread }, quantiles, sum, count }];
  });
  return () => histogram.disable();
}
