// Graceful shutdown of a real node: the manager with the system bus, systemd-inhibit and the node's pods. Loaded only
// when a period is configured.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { ShutdownGroup } from "../../command/shutdown-groups.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { PodFailure } from "../../model/refusal.js";
import type { PodTable } from "../../pods/sync/pod-table.js";
import type { PodWorkers } from "../../pods/sync/pod-workers.js";
import type { EndingPods } from "./end-groups.js";
import { LOGIND_CONF_DIR } from "./inhibit-delay.js";
import { takeInhibitLock } from "./inhibit-lock.js";
import { connectLogind } from "./logind.js";
import { whenEndIsReported, type ReportedEndDeps } from "./reported-end.js";
import { ShutdownManager, type ShutdownManagerDeps } from "./shutdown-manager.js";
import { ShutdownState } from "./shutdown-state.js";
import { systemBusSocket } from "./system-bus.js";
const MESSAGE = "Pod was terminated in response to imminent node shutdown.";
const NODE_SHUTDOWN: PodFailure = { reason: "Terminated", message: MESSAGE, disruption: MESSAGE };

export interface ShutdownDeps {
  groups: readonly ShutdownGroup[];
  /** Start and end of the shutdown are recorded and shown as metrics. */
  withTimes: boolean;
  rootDir: string;
  pods: Pick<PodTable, "all">;
  workers: Pick<PodWorkers, "fail" | "whenOver">;
  phaseInApi: ReportedEndDeps["phaseInApi"];
  onShuttingDown: (shuttingDown: boolean) => void;
  events: Pick<EventRecorder, "node">;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export async function startShutdown(deps: ShutdownDeps): Promise<ShutdownManager> {
  const { groups, onShuttingDown, events, clock, log } = deps;
  const noteTimes = deps.withTimes ? await keptTimes(deps) : undefined;
  const manager = new ShutdownManager({
    groups,
    onShuttingDown,
    events,
    clock,
    log,
    pods: endingPods(deps),
    connect: () => Promise.resolve(systemBusSocket(process.env)).then((path) => connectLogind(path, clock)),
    takeLock: (signal) => takeInhibitLock(clock, signal),
    confDir: LOGIND_CONF_DIR,
    noteTimes,
  });
  manager.start();
  return manager;
}

/** Shows the times of the last shutdown as metrics. */
async function keptTimes({ rootDir, registry, clock, log }: ShutdownDeps): Promise<ShutdownManagerDeps["noteTimes"]> {
  const metrics = shutdownMetrics(registry);
  const state = new ShutdownState(rootDir, clock, log);
  const { start, end } = await state.read();
  metrics.times(start, end);
  return async (times) => {
    metrics.times(times.start, times.end);
    await state.write(times);
  };
}

function endingPods(deps: ShutdownDeps): EndingPods {
  const { pods, workers } = deps;
  return {
    active: () =>
      [...pods.all()].flatMap(({ desired, state }) =>
        desired === undefined || state === "finished" || state === "terminated" ? [] : [desired],
      ),
    async end({ metadata: { uid } }, graceSeconds) {
      await workers.fail(uid, NODE_SHUTDOWN, { graceSeconds });
      await workers.whenOver(uid);
      await whenEndIsReported(uid, deps);
    },
  };
}

/** Metrics of the last graceful node shutdown; they survive a reboot. */
interface ShutdownMetrics {
  /** Milliseconds since the epoch; undefined: there was none, or it is not over. */
  times(start: number | undefined, end: number | undefined): void;
}

export function shutdownMetrics(registry: ThreadRegistry): ShutdownMetrics {
  const start = registry.gauge(
    "kubelet_graceful_shutdown_start_time_seconds",
    "Last graceful shutdown start time in Unix seconds",
  );
  const end = registry.gauge(
    "kubelet_graceful_shutdown_end_time_seconds",
    "Last graceful shutdown end time in Unix seconds",
  );
  return {
    times(startMs = 0, endMs = 0) {
      start.set(startMs / 1000);
      end.set(endMs / 1000);
    },
  };
}
