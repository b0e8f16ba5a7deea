// The supervisor's protocol: what main and any dedicated worker say to each other before and beside the worker's own
// contract. Life of a thread, both sides:
//
//   spawned ──hello, start() done──► ready ──owner sent its snapshot──► running ──drain──► draining ──► exited
//      └──────────────┴───────── any failure, at any point ─────────┴──────────────┴──────────► exited(reason)
//
// A restart begins at spawned again with the next generation, fresh rings and fresh ports.

import type { MessagePort } from "node:worker_threads";
import type { ThreadFault } from "../base/faults/thread-fault.js";
import type { BoardBuffers } from "../base/queue/board.js";
import type { RingBuffers } from "../base/queue/ring.js";
import type { ThreadLogging } from "../telemetry/log/logging-config.js";
import type { TracingConfig } from "../telemetry/tracing/tracing-config.js";

/** The workerData of a worker. */
export interface ThreadInit<Init> {
  name: string;
  /** From 1, one more at each start. */
  generation: number;
  board: BoardBuffers;
  /** main → worker. */
  inbox: RingBuffers;
  /** worker → main. */
  outbox: RingBuffers;
  /** main calls the worker's control object over this port. */
  control: MessagePort;
  /** The worker calls main's upcalls over this port. */
  upcalls: MessagePort;
  logging: ThreadLogging;
  /** Absent: the thread does not trace. */
  tracing?: TracingConfig;
  /** Gate NativeHistograms. */
  nativeHistograms?: boolean;
  init: Init;
}

/** Control of a worker in whose thread another one may live. */
export interface GuestHost {
  /** @param port for the guest's messages and those of its supervisor */
  host(guest: { data: ThreadInit<unknown>; port: MessagePort }): void;
}

/** An error on its way between threads. */
export interface SerializedError {
  /** Short machine-readable cause, as Node and our own errors carry it; empty when there is none. */
  code: string;
  name: string;
  message: string;
  stack: string;
}

/** worker → main. */
export type WorkerMessage =
  /** First message, before any of the worker's own code runs. */
  | { kind: "hello"; layoutVersion: number; name: string; generation: number }
  /** start() has returned: the control object accepts calls. */
  | { kind: "ready" }
  /** An error that no caller caught, which the thread outlives. */
  | { kind: "uncaught"; origin: "exception" | "rejection" }
  /** drain() is done; the thread exits by itself next. */
  | { kind: "drained" }
  /** The thread cannot continue and exits by itself next. `during` names the failed phase. */
  | { kind: "fatal"; cause: FatalCause; during: "start" | "run" | "drain"; error: SerializedError };

/** Why a worker ends itself. */
export type FatalCause = Extract<ExitCause, "start-failed" | "uncaught" | "message-lost">;

/** main → worker. */
export type SupervisorMessage =
  /** The owner has sent its snapshot. */
  | { kind: "running" }
  /** Complete started work, flush, then exit. */
  | { kind: "drain" }
  /** For tests, see thread/faults.ts. */
  | { kind: "fault"; fault: ThreadFault };

/** Why a thread ended. */
export type ExitCause =
  /** Orderly, requested by stop(). */
  | "drained"
  /** stop() ran out of patience. */
  | "drain-timeout"
  /** start() in the worker threw, or its module did not load. */
  | "start-failed"
  /** No ready within the deadline. */
  | "not-ready"
  /** Files on disk belong to another version than the running main: a restart of the process is needed. */
  | "layout-mismatch"
  /** The owner's onRunning threw. */
  | "snapshot-failed"
  /** An uncaught error. */
  | "uncaught"
  /** A message of a call between main and the thread could not be handled, at either end. */
  | "message-lost"
  /** Heap limit reached. */
  | "out-of-memory"
  /** Its board stamp went stale. */
  | "stalled"
  /** terminate() of the supervised thread. */
  | "terminated"
  /** Exited by itself without an error message. */
  | "exited";

export interface ThreadExit {
  thread: string;
  generation: number;
  cause: ExitCause;
  /** Exit code of the worker. */
  code: number;
  /** One sentence: first failure, with the worker's own error where there is one. */
  reason: string;
  error?: SerializedError | undefined;
}
