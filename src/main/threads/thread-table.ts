// The worker threads of the node, one row each. Board slots, heap limits, watchdog limits, starts, metrics, stops and
// the fault hook follow from the rows. The log thread and the tasks pool are no rows: they are not supervised
// (log-thread.ts, tasks-pool.ts).
// Invariant: src/workers has one folder per row, with the row's name, or the row names another's
// (test/tools/docs/thread-table.test.ts).

import type { ServerInit, ServerThreadName } from "../../shared/contracts/server.js";
import { evictionInit, EvictionThread } from "./eviction-thread.js";
import { imageGcInit, ImageGcThread } from "./image-gc-thread.js";
import { peersInit, PeersThread } from "./peers-thread.js";
import { plegInit, PlegThread } from "./pleg-thread.js";
import { proberInit, ProberThread } from "./prober-thread.js";
import { secureServerInit, serverInit, serverUpcalls } from "./server-init.js";
import { ServerThread } from "./server-thread.js";
import type { NodeThread, ThreadDeps } from "./thread-host.js";

/**
 * Above the time in which the supervisor detects a stalled thread (10 s) and restarts it (10 s and the start itself).
 */
const WATCHDOG_MS = 30_000;

export interface ThreadRow {
  /** Old-space limit, MiB. It is far above the need of a node with 1,000 pods, and a leak ends only one thread. */
  heapMiB: number;
  /** Above this age of the thread's stamp, ms, systemd's watchdog is not notified. */
  watchdogMs: number;
  /** Above this age of the thread's stamp, ms, the supervisor ends the thread. */
  stallMs?: number;
  ringBytes: { inbox: number; outbox: number };
  /** Folder of the entry, if it is another thread's. */
  folder?: string;
  /** The process ends when the thread fails too often: no pod is synced without it. Others are restarted for ever. */
  essential?: true;
  /**
   * first: pods wait for it. next: started once, one after the other; the node does not wait for a restart. last: when
   * those run. by its owner: with the first work for it.
   */
  start: "first" | "next" | "last" | "by its owner";
  /**
   * undefined: this node has no such thread. Absent: the owner makes the thread, and adds it with `NodeThreads.add`.
   */
  make?: (deps: ThreadDeps<string>) => NodeThread | undefined;
}

/** A thread that uses no rings gets the smallest. */
const NO_RINGS = { inbox: 1 << 12, outbox: 1 << 12 };

/** In the order of their starts and of their slots on the board. */
export const THREAD_TABLE = {
  pleg: {
    heapMiB: 192,
    watchdogMs: WATCHDOG_MS,
    // The whole node's observed states after a relist.
    ringBytes: { inbox: 1 << 20, outbox: 8 << 20 },
    essential: true,
    start: "first",
    make: ({ context, facts, clock, log, owner }: ThreadDeps<"pleg">) =>
      new PlegThread({ context, init: plegInit(facts), clock, log, owner }),
  },
  server: {
    heapMiB: 192,
    watchdogMs: WATCHDOG_MS,
    ringBytes: NO_RINGS,
    start: "next",
    make: (deps: ThreadDeps<"server">) => serverThread("server", serverInit(deps.facts), deps),
  },
  // Port 10250 alone: all that this thread does can be the work of unknown clients (docs/adr/0081).
  "secure-server": {
    heapMiB: 192,
    watchdogMs: WATCHDOG_MS,
    ringBytes: NO_RINGS,
    folder: "server",
    start: "next",
    make: (deps: ThreadDeps<"secure-server">) => {
      const init = secureServerInit(deps.facts);
      return init && serverThread("secure-server", init, deps);
    },
  },
  prober: {
    heapMiB: 128,
    watchdogMs: WATCHDOG_MS,
    // Records are of runs that failed or changed something; a burst of a whole node's failures with their output fits.
    ringBytes: { inbox: 1 << 12, outbox: 1 << 20 },
    start: "by its owner",
    make: ({ context, facts, clock, log, owner }: ThreadDeps<"prober">) =>
      new ProberThread({ context, init: proberInit(facts), clock, log, owner }),
  },
  peers: {
    heapMiB: 128,
    watchdogMs: WATCHDOG_MS,
    // No piece of a peer's work takes longer than a fraction of a second; the probes of all other pods wait behind a
    // longer one.
    stallMs: 5_000,
    ringBytes: { inbox: 1 << 12, outbox: 1 << 20 },
    start: "by its owner",
    make: ({ context, clock, log, owner }: ThreadDeps<"peers">) =>
      new PeersThread({ context, init: peersInit(), clock, log, owner }),
  },
  "image-gc": {
    heapMiB: 128,
    watchdogMs: WATCHDOG_MS,
    ringBytes: NO_RINGS,
    start: "by its owner",
    make: ({ context, facts, clock, log, owner }: ThreadDeps<"image-gc">) =>
      new ImageGcThread({ context, init: imageGcInit(facts), clock, log, owner }),
  },
  // Made by src/main/process/docker-runtime.ts, with --container-runtime=docker or --experimental-dockershim.
  dockershim: { heapMiB: 192, watchdogMs: WATCHDOG_MS, ringBytes: NO_RINGS, start: "by its owner" },
  // Made by src/main/process/own-api.ts, with --api-server-port.
  apiserver: { heapMiB: 256, watchdogMs: WATCHDOG_MS, ringBytes: NO_RINGS, start: "by its owner" },
  // Made by src/main/node/start-node-status.ts once the node has its credentials.
  "node-status": { heapMiB: 96, watchdogMs: WATCHDOG_MS, ringBytes: NO_RINGS, start: "by its owner" },
  eviction: {
    heapMiB: 96,
    watchdogMs: WATCHDOG_MS,
    // One order at a time, and a storm of OOM kills.
    ringBytes: { inbox: 1 << 12, outbox: 1 << 18 },
    start: "last",
    make: ({ context, facts, clock, log, owner }: ThreadDeps<"eviction">) =>
      new EvictionThread({ context, init: evictionInit(facts), clock, log, owner }),
  },
} satisfies Record<string, ThreadRow>;

export type WorkerName = keyof typeof THREAD_TABLE;
type Rows = typeof THREAD_TABLE;

/** The threads that rows make, by name, each with its own class. */
export type MadeThreads = {
  readonly [Name in WorkerName as Rows[Name] extends { make: unknown } ? Name : never]: Rows[Name] extends {
    make: (deps: ThreadDeps<Name>) => infer Thread;
  }
    ? Thread
    : never;
};

function serverThread<Name extends ServerThreadName>(
  name: Name,
  init: ServerInit,
  deps: ThreadDeps<Name>,
): ServerThread {
  const { context, podTurns, clock, log, owner } = deps;
  const { exited } = context;
  return new ServerThread({
    podTurns,
    clock,
    log,
    owner,
    name,
    table: context.common(name),
    exited,
    init,
    upcalls: serverUpcalls(deps, name),
  });
}

export const WORKERS = Object.keys(THREAD_TABLE) as readonly WorkerName[];

export function rowOf(name: WorkerName): ThreadRow {
  return THREAD_TABLE[name];
}
