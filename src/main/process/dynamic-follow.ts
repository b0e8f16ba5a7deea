// --dynamic-config-dir while the node runs. A separate process validates a changed configuration. Then the kubelet
// applies it in place or by a restart.

import { systemClock } from "../../shared/base/clock/clock.js";
import { BoardReader } from "../../shared/base/queue/board.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import type { RunningAgent } from "../kubelet/agent.js";
import { lateThreads } from "../threads/late-threads.js";
import type { NodeThreads } from "../threads/node-threads.js";
import type { ConfigFiles } from "./dynamic-config/config-files.js";
import type { DynamicConfig } from "./dynamic-config/dynamic-config.js";
import { differences, type Examination } from "./dynamic-config/examine.js";
import { followConfiguration, type FollowedConfig } from "./dynamic-config/follow.js";
import { configMetrics } from "./dynamic-config/metrics.js";
import { examineApart, ExaminationError } from "./examine-apart.js";
import { WATCHDOG_LIMITS } from "./systemd/systemd.js";
import type { Logging } from "./unix/logging.js";

export interface FollowDeps {
  dynamic: DynamicConfig;
  logging: Logging;
  events: RunningAgent["events"];
  inCluster: boolean;
  registry: ThreadRegistry;
  threads: Pick<NodeThreads, "context" | "servers">;
  restart: (reason: string) => void;
}

export function followChanges({
  dynamic,
  logging,
  threads,
  events,
  inCluster,
  registry,
  restart,
}: FollowDeps): FollowedConfig {
  const argv = process.argv.slice(2);
  const board = new BoardReader(threads.context.board, systemClock);
  // One process per configuration, though several steps need the result; a failure is not cached.
  const known = new WeakMap<ConfigFiles, Examination>();
  const examined = async (files: ConfigFiles): Promise<Examination> => {
    const examination = known.get(files) ?? (await examineApart(argv, files));
    known.set(files, examination);
    return examination;
  };
  const outcomeOf = async (files: ConfigFiles): Promise<Extract<Examination, { ok: true }>> => {
    const examination = await examined(files);
    if (!examination.ok) throw new ExaminationError(examination.problems.join("; "));
    return examination;
  };
  dynamic.validate = examined;
  dynamic.recordWith((event) => events.node(event));
  dynamic.onReport(configMetrics(registry));
  return followConfiguration(dynamic, {
    healthy: () => lateThreads(board.snapshot(), WATCHDOG_LIMITS).length === 0,
    restartInPlace: (reason) => {
      restart(reason);
      return new Promise<never>(() => undefined);
    },
    changedPaths: async (before, after) =>
      differences((await outcomeOf(before)).values, (await outcomeOf(after)).values),
    eventsSent: () => (inCluster ? events.sent() : Promise.resolve()),
    applyInPlace: async (_changed, files) => {
      const { values, configz } = await outcomeOf(files);
      const verbosity = values["logging.verbosity"];
      if (verbosity === undefined) return false;
      logging.verbosity = Number(verbosity);
      threads.servers.setConfigz(configz);
      return true;
    },
  });
}
