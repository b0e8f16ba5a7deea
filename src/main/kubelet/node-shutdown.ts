// Graceful shutdown of the running node: started after the first pods, and only with a configured period. Nothing is
// loaded for it before.

import { Deferred } from "../../shared/base/turns/deferred.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import { moduleLogger } from "../../shared/telemetry/log/logger.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { PodSync } from "../pods/sync/pod-sync.js";
import type { AgentContext } from "./context.js";
import type { Foundation } from "./foundation.js";

/** The first pods must not wait for a library. */
const START_AFTER_MS = 1000;
/**
 * Without an API server the sources stay unsettled for longer than this: shutdown handling then starts with the known
 * pods.
 */
const SETTLE_TRIES = 100;
const SETTLE_PAUSE_MS = 100;

/** Whether the machine is shutting down: admission reads it. */
export class ShutdownNotice {
  shuttingDown = false;
}

export interface ShutdownParts {
  foundation: Pick<Foundation, "events" | "membership">;
  shutdown: ShutdownNotice;
  state: Pick<PodState, "pods" | "cluster">;
  sync: Pick<PodSync, "workers">;
  /** All pod sources have delivered, and the runtime was observed. */
  settled: () => boolean;
}

/** Undefined: no period is configured. */
export function deferredShutdown(
  { settings, registry, clock, log: parent }: AgentContext,
  { foundation, shutdown, state, sync, settled }: ShutdownParts,
): Deferred<{ stop(): Promise<void> }> | undefined {
  const { shutdownGroups: groups, shutdownTimes: withTimes } = settings.eviction;
  if (groups.length === 0) return undefined;
  const log = moduleLogger(parent, "shutdown");
  return new Deferred({
    name: "graceful shutdown of the node",
    when: {
      ms: START_AFTER_MS,
      clock,
      failed: (error) => log.error({ err: error }, `graceful node shutdown is not available: ${errorText(error)}`),
    },
    async load(signal) {
      for (let left = SETTLE_TRIES; left > 0 && !settled(); left--) await clock.sleep(SETTLE_PAUSE_MS, signal);
      const { startShutdown } = await import("../node/shutdown/start-shutdown.js");
      return startShutdown({
        groups,
        withTimes,
        rootDir: settings.rootDir,
        workers: sync.workers,
        pods: state.pods,
        phaseInApi: (uid) => state.cluster?.statusOf(uid)?.phase,
        onShuttingDown: (shuttingDown) => {
          shutdown.shuttingDown = shuttingDown;
          foundation.membership?.setShuttingDown(shuttingDown);
        },
        events: foundation.events,
        registry,
        clock,
        log,
      });
    },
    end: (manager) => manager.stop(),
  });
}
