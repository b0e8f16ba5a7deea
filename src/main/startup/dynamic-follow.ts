// --dynamic-config-dir while the node runs. A separate process validates a changed configuration. Then the kubelet
// applies it in place or by a restart.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../shared/clock/clock.js";
import { BoardReader } from "../../shared/queue/board.js";
import type { DynamicConfig } from "./dynamic-config/dynamic-config.js";
import { differences, type Examination } from "./dynamic-config/examine.js";
import { followConfiguration, type FollowedConfig } from "./dynamic-config/follow.js";
import { configMetrics } from "./dynamic-config/metrics.js";
import type { ConfigFiles } from "./dynamic-config/config-files.js";
import { lateThreads } from "../threads/late-threads.js";
import type { RunningAgent } from "../agent/agent.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import type { Logging } from "./process/logging.js";
import type { NodeThreads } from "../threads/node-threads.js";
import { WATCHDOG_LIMITS } from "./systemd/systemd.js";

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

// Examines a configuration in a separate process, with a deadline.

/** By way of the folder, so that the bundle finds it from its chunks too (packaging/bundle.mjs). */
const ENTRY = fileURLToPath(new URL("../startup/examine-child.js", import.meta.url));
const DEADLINE_MS = 30_000;

/** The examining process ended without a result. */
class ExaminationError extends Error {
  override readonly name = "ExaminationError";
  readonly code = "EXAMINATION";
}

/** @throws ExaminationError */
async function examineApart(argv: readonly string[], files: ConfigFiles): Promise<Examination> {
  const child = spawn(process.execPath, [ENTRY], { stdio: ["pipe", "pipe", "pipe"], timeout: DEADLINE_MS });
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  // A child that exits early closes its input; its exit status explains more than the EPIPE error.
  child.stdin.on("error", () => undefined);
  child.stdin.end(JSON.stringify({ argv, files }));
  const [answer, complaint, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) {
    const how = signal === null ? `status ${code}` : `${signal} (its deadline is ${DEADLINE_MS / 1000} s)`;
    throw new ExaminationError(`cannot validate the changed configuration: ${how}: ${complaint.trim().slice(-500)}`);
  }
  return JSON.parse(answer) as Examination;
}
