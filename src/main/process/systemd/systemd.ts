// Notifies systemd: READY once every thread runs, WATCHDOG while all threads tick, STATUS with the current operation,
// and STOPPING (sd_notify(3)).

import type { Clock } from "../../../shared/base/clock/clock.js";
import { BoardReader } from "../../../shared/base/queue/board.js";
import { opName } from "../../../shared/contracts/thread-ops.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { RunningAgent } from "../../kubelet/agent.js";
import type { StampLimits } from "../../threads/late-threads.js";
import type { NodeThreads } from "../../threads/node-threads.js";
import { rowOf, WORKERS } from "../../threads/thread-table.js";
import { systemdNotifier, type SystemdNotifier } from "./notify.js";
import { feedWatchdog } from "./watchdog.js";

const MAIN_LIMIT_MS = 10_000;
export const WATCHDOG_LIMITS: StampLimits = {
  main: MAIN_LIMIT_MS,
  ...Object.fromEntries(WORKERS.map((name) => [name, rowOf(name).watchdogMs])),
};
const STATUS_EVERY_MS = 5000;

export interface SystemdOptions {
  node: Pick<RunningAgent, "pods" | "runtime">;
  threads: Pick<NodeThreads, "context" | "running">;
  clock: Clock;
  log: Logger;
  /** undefined: the unit has no watchdog. */
  feedEveryMs: number | undefined;
  /** For tests. */
  notifier?: SystemdNotifier | undefined;
}

export interface SystemdLink {
  stopping(): void;
  /** Resolves when all messages are sent. */
  end(): Promise<void>;
}

/** undefined when no service manager listens. */
export function linkToSystemd(options: SystemdOptions): SystemdLink | undefined {
  const { node, threads, clock, log, feedEveryMs } = options;
  const notifier = options.notifier ?? systemdNotifier(process.env, log);
  if (notifier === undefined) return undefined;
  const ends: (() => void)[] = [];
  let said = statusLine(node);
  const begin = (): void => {
    notifier.ready(said);
    const timer = clock.every(STATUS_EVERY_MS, () => {
      const line = statusLine(node);
      if (line !== said) notifier.status(line);
      said = line;
    });
    timer.unref();
    ends.push(() => timer.cancel());
    if (feedEveryMs === undefined) return;
    const board = new BoardReader(threads.context.board, clock);
    const feed = (): void => notifier.watchdog();
    ends.push(feedWatchdog({ intervalMs: feedEveryMs, board, limits: WATCHDOG_LIMITS, clock, feed, log, opName }));
  };
  let stopped = false;
  threads.running.then(
    () => {
      if (!stopped) begin();
    },
    // A node whose threads never run is not ready; the caller that starts them has logged why.
    () => undefined,
  );
  return {
    stopping() {
      stopped = true;
      for (const end of ends.splice(0)) end();
      notifier.stopping();
    },
    end: () => notifier.flush(),
  };
}

/** "3 pods, containerd 1.6.20 is reachable": the text of STATUS=. */
function statusLine(node: Pick<RunningAgent, "pods" | "runtime">): string {
  const count = node.pods().length;
  const runtime = node.runtime();
  const said =
    runtime === undefined
      ? "the container runtime has not responded yet"
      : runtime.reachable
        ? `${runtime.name} ${runtime.version} is reachable${runtime.message === "" ? "" : `, not ready: ${runtime.message}`}`
        : `the container runtime does not respond: ${runtime.message}`;
  return `${count} ${count === 1 ? "pod" : "pods"}, ${said}`;
}
