// The collaborators of a thread's class on main. No class imports the table that lists it.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { LoopShare } from "../../shared/base/turns/loop-share.js";
import type { ThreadExit } from "../../shared/contracts/thread.js";
import type { NodeConfigFiles } from "../../shared/kubernetes/api/client/kubeconfig/node-config.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import type { TracingConfig } from "../../shared/telemetry/tracing/tracing-config.js";
import type { Settings } from "../command/settings.js";
import type { Breakable } from "./breakable.js";
import type { SuperviseOptions, SupervisedThread } from "./supervisor.js";
import type { ThreadOwner } from "./thread-owner.js";

/** Options that the table decides; the class adds its init data, upcalls and snapshots. */
export type TableOptions = Omit<
  SuperviseOptions<object, unknown, object>,
  "init" | "upcalls" | "callDeadlineMs" | "drainDeadlineMs" | "onRunning" | "onExit"
>;

/** `Name`: the rows that exist. A class for a thread without a row does not compile. */
export interface ThreadHost<Name extends string> {
  readonly common: (name: Name) => TableOptions;
  readonly exited: (exit: ThreadExit) => void;
}

/** Everything that init data is made of. */
export interface ThreadFacts {
  settings: Settings;
  nodeName: string;
  directories: { checkpoints: string; containerLogs: string };
  /** Certificate and key of the authenticated port. */
  serving: { certFile: string; keyFile: string };
  /** Connection of the node to its API server; undefined: it runs stand-alone. */
  api: NodeConfigFiles | undefined;
  /** Absent: tracing is off. */
  tracing?: TracingConfig | undefined;
  /** Gate NativeHistograms. */
  nativeHistograms: boolean;
}

/** The arguments from which a row creates its thread. */
export interface ThreadDeps<Name extends string> {
  context: ThreadHost<Name>;
  facts: ThreadFacts;
  clock: Clock;
  log: Logger;
  /** Resolves when the sync path can handle upcalls. */
  owner: Promise<ThreadOwner>;
  /** The metrics of main and of all threads that respond, but for the thread `asker`, which has its own. */
  collectMetrics(asker: string): Promise<MetricSnapshot[]>;
  collectProbeMetrics(): Promise<MetricSnapshot[]>;
  /** Turns of main's loop, in which pods are sent to the threads that serve them. */
  podTurns: Pick<LoopShare, "turn">;
  /** The value of -v from now on. */
  setVerbosity(verbosity: number): void;
}

/** A thread as the loops over all rows use it. */
export interface NodeThread {
  readonly thread: Breakable & Pick<SupervisedThread<object>, "start" | "startTried" | "startInBackground">;
  /** For /metrics. Absent: the thread adds its own values. */
  metrics?(): Promise<MetricSnapshot[]>;
  /** Pods whose newest version is still to be sent to it. Absent: it gets no pods. */
  readonly podsBehind?: number;
  stop(): Promise<void>;
}
