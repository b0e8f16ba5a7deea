// The node's threads. They start before main loads the sync path, and load at the same time on another core.
// Invariant: no thread starts its work before the sync path can handle its upcalls.

import type { Clock } from "../../shared/base/clock/clock.js";
import { LoopShare } from "../../shared/base/turns/loop-share.js";
import { CodeLoads } from "../../shared/io/code/v8-flags.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../shared/telemetry/metrics/threads.js";
import type { Breakable } from "./breakable.js";
import { ThreadStoppedError } from "./errors.js";
import { MetricSources } from "./metric-sources.js";
import { ServerThreads } from "./server-threads.js";
import type { SpawnWorker } from "./spawn-worker.js";
import { ThreadContext } from "./thread-context.js";
import type { NodeThread, ThreadFacts, ThreadDeps } from "./thread-host.js";
import type { ThreadOwner } from "./thread-owner.js";
import { rowOf, THREAD_TABLE, WORKERS, type MadeThreads, type ThreadRow, type WorkerName } from "./thread-table.js";

export interface NodeThreadsOptions {
  facts: ThreadFacts;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
  spawn: SpawnWorker;
  /** The value of -v from now on. */
  setVerbosity(verbosity: number): void;
  /** A thread will not come back. */
  onGiveUp(error: Error): void;
}

export class NodeThreads implements AsyncDisposable {
  readonly context: ThreadContext;
  /** The threads that the table makes, by name. */
  readonly of: MadeThreads;
  readonly servers: ServerThreads;
  /**
   * Resolves when the first thread runs, and the next ones run or failed once; pending until attach and startOthers.
   */
  readonly running: Promise<void>;
  private readonly metrics: MetricSources;
  private readonly threads = new Map<WorkerName, NodeThread>();
  private readonly loads = new CodeLoads();
  private stopped = false;
  private giveOwner: (owner: ThreadOwner) => void = () => undefined;
  /** The threads after the first ones may start. */
  private readonly othersMayStart: Promise<void>;
  private letOthersStart: () => void = () => undefined;

  constructor(options: NodeThreadsOptions) {
    const { facts, registry, clock, log } = options;
    const owner = new Promise<ThreadOwner>((resolve) => {
      this.giveOwner = resolve;
    });
    this.othersMayStart = new Promise((resolve) => {
      this.letOthersStart = resolve;
    });
    this.metrics = new MetricSources(clock);
    this.metrics.add("main", async () => [await registry.exportSnapshot()]);
    const { loads } = this;
    const started = loads.begin();
    const metrics = threadMetrics(registry);
    metrics.watchPodsBehind(() => this.podsBehind());
    this.context = new ThreadContext({
      clock,
      log,
      metrics,
      spawn: options.spawn,
      onGiveUp: (error) => options.onGiveUp(error),
      tracing: facts.tracing,
      nativeHistograms: facts.nativeHistograms,
      loads,
    });
    this.of = makeThreads({
      context: this.context,
      facts,
      clock,
      log,
      owner,
      collectMetrics: (asker) => this.metrics.collect(asker),
      collectProbeMetrics: async () => {
        const { prober, peers } = this.of;
        return (await Promise.all([prober.probeMetrics(), peers.probeMetrics()])).flat();
      },
      setVerbosity: (verbosity) => options.setVerbosity(verbosity),
      podTurns: new LoopShare(clock),
    });
    this.servers = new ServerThreads(this.of);
    for (const [name, thread] of Object.entries(this.of)) {
      if (thread !== undefined) this.add(name as keyof MadeThreads, thread);
    }
    // One by one: the pods wait for the first thread, and nothing waits for the others yet.
    this.running = this.startAll();
    this.running
      .then(
        () => {
          if (!this.stopped) for (const { thread } of this.startedAs("last")) thread.startInBackground();
        },
        (error: unknown) => {
          if (!(error instanceof ThreadStoppedError)) log.error({ err: error }, "a thread of the node did not start");
        },
      )
      .finally(started);
  }

  /** The sync path is there. Call once. */
  attach(owner: ThreadOwner): void {
    this.giveOwner(owner);
  }

  /** The first pods no longer need the processors for themselves: the threads that pods do not wait for start. */
  startOthers(): void {
    this.letOthersStart();
  }

  /** Adds a thread that its owner has made to /metrics, the stop and the fault hook. */
  add(name: WorkerName, thread: NodeThread): void {
    this.threads.set(name, thread);
    if (thread.metrics !== undefined) this.metrics.add(name, () => thread.metrics?.() ?? Promise.resolve([]));
  }

  /** Whether the kubelet has much to do for long. */
  setBusy(busy: boolean): void {
    this.loads.setBusy(busy);
  }

  /** undefined: it is not made yet, or no thread has that name. */
  breakable(name: string): Breakable | undefined {
    const known = WORKERS.find((worker) => worker === name);
    return known && this.threads.get(known)?.thread;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.letOthersStart();
    await Promise.all([...this.threads.values()].map((thread) => thread.stop()));
    this.context.stop();
  }

  private *podsBehind(): Generator<[thread: string, pods: number]> {
    for (const [name, { podsBehind }] of this.threads) if (podsBehind !== undefined) yield [name, podsBehind];
  }

  private async startAll(): Promise<void> {
    for (const { thread } of this.startedAs("first")) await thread.start();
    await this.othersMayStart;
    // Pods do not need these: one that fails at first is started again beside the running node.
    for (const { thread } of this.startedAs("next")) {
      if (this.stopped) return;
      await thread.startTried();
    }
  }

  private startedAs(start: ThreadRow["start"]): NodeThread[] {
    return [...this.threads].flatMap(([name, thread]) => (rowOf(name).start === start ? [thread] : []));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

function makeThreads(deps: ThreadDeps<WorkerName>): MadeThreads {
  const made = Object.entries(THREAD_TABLE).flatMap(([name, row]) => {
    const thread = "make" in row ? row.make(deps) : undefined;
    // It loads while main makes the others; startAll waits for it.
    if (row.start === "first") void thread?.thread.start();
    return thread === undefined ? [] : [[name, thread] as const];
  });
  return Object.fromEntries(made) as MadeThreads;
}
