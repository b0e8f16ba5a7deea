// The context of every component of the kubelet. It has the settings, completed by facts of the machine, and the
// process-wide objects that node-life.ts creates first.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { WallTime } from "../../shared/base/clock/moments.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import type { Settings } from "../command/settings.js";
import type { NodeConfiguration } from "../model/node-configuration.js";
import type { ServingFiles } from "../node/certificates/certificate-files.js";
import type { NodeThreads } from "../threads/node-threads.js";
import type { createTasksPool } from "../threads/tasks-pool.js";
import type { NodeSettings } from "./node-settings.js";

export interface AgentContext {
  settings: NodeSettings;
  threads: NodeThreads;
  createTasksPool: typeof createTasksPool;
  /** Starts the threads that no pod waits for. */
  startOtherThreads(): void;
  /** Main's own metrics. */
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
  /** Certificate files of the authenticated port; undefined: the port is off. */
  serving: ServingFiles | undefined;
  /** Undefined: without --dynamic-config-dir. */
  configuration: NodeConfiguration | undefined;
  /** Undefined: the node runs stand-alone. */
  cluster: ClusterContext | undefined;
}

interface ClusterContext {
  /** The settings of the command line and the files, unchanged. */
  settings: Settings;
  startedAtMs: WallTime;
  giveUp: (reason: string) => void;
}
