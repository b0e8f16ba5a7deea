// The node's threads, started before main loads the sync path, so that they load at the same time on another core.
// Invariant: no thread begins its work before the sync path can answer it.
import type { Clock } from "../../shared/clock/clock.js";
import type { EvictionInit } from "../../shared/contracts/eviction.js";
import type { ImageGcInit } from "../../shared/contracts/image-gc.js";
import type { PlegInit } from "../../shared/contracts/pleg.js";
import type { ProberInit } from "../../shared/contracts/prober.js";
import type { ServerInit } from "../../shared/contracts/server.js";
import type { Logger } from "../../shared/log/logger.js";
import { MetricSources } from "./metric-sources.js";
import type { MetricSnapshot } from "../../shared/metrics/snapshot.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import { threadMetrics } from "../../shared/metrics/threads.js";
import { isThreadStopped } from "./errors.js";
import { EvictionThread } from "./eviction-thread.js";
import { ImageGcThread } from "./image-gc-thread.js";
import { PlegThread } from "./pleg-thread.js";
import { ProberThread } from "./prober-thread.js";
import { ServerThread } from "./server-thread.js";
import { ThreadContext } from "./thread-context.js";
import type { ThreadOwner } from "./thread-owner.js";

export interface NodeThreadsOptions {
  pleg: PlegInit;
  server: ServerInit;
  prober: ProberInit;
  imageGc: ImageGcInit;
  eviction: EvictionInit;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
  /** The value of -v from now on. */
  setVerbosity(verbosity: number): void;
  /** A thread will not come back. */
  onGiveUp(error: Error): void;
}

export class NodeThreads implements AsyncDisposable {
  readonly context: ThreadContext;
  readonly pleg: PlegThread;
  readonly server: ServerThread;
  readonly imageGc: ImageGcThread;
  /** Not among those that `running` waits for: it starts with the first pod that has probes. */
  readonly prober: ProberThread;
  /** Starts when those run: pods do not wait for it. */
  readonly eviction: EvictionThread;
  /** Resolves when pleg runs, and server and image-gc run or failed once; pending until attach. */
  readonly running: Promise<void>;
  private readonly metrics: MetricSources;
  private stopped = false;
  private giveOwner: (owner: ThreadOwner) => void = () => undefined;

  constructor(options: NodeThreadsOptions) {
    const { registry, clock, log } = options;
    const owner = new Promise<ThreadOwner>((resolve) => {
      this.giveOwner = resolve;
    });
    this.metrics = new MetricSources(clock);
    this.context = new ThreadContext(clock, log, threadMetrics(registry), (error) => options.onGiveUp(error));
    this.pleg = new PlegThread({ context: this.context, init: options.pleg, clock, log, owner });
    this.prober = new ProberThread({ context: this.context, init: options.prober, clock, log, owner });
    this.server = new ServerThread({
      context: this.context,
      init: options.server,
      upcalls: {
        collectMetrics: () => this.metrics.collect(),
        timeline: async (namespace, name) => (await owner).timeline(namespace, name),
        mirrorUid: async (namespace, name) => (await owner).mirrorUid(namespace, name),
        collectProbeMetrics: () => this.prober.probeMetrics(),
        podDisks: async (uids, maxAgeMs) => (await owner).podDisks(uids, maxAgeMs, 0),
        setVerbosity: (verbosity) => {
          options.setVerbosity(verbosity);
          return Promise.resolve();
        },
      },
      log,
      owner,
    });
    this.imageGc = new ImageGcThread({ context: this.context, init: options.imageGc, owner });
    this.eviction = new EvictionThread({ context: this.context, init: options.eviction, clock, log, owner });
    this.metrics.add(async () => [await registry.exportSnapshot()]);
    this.metrics.add(async () => [await this.pleg.thread.call.metrics()]);
    this.metrics.add(() => this.prober.metrics());
    this.metrics.add(async () => [await this.imageGc.thread.call.metrics()]);
    this.metrics.add(() => this.eviction.metrics());
    // One by one: the pods wait for the first thread, and nothing waits for the others yet.
    this.running = this.startAll();
    this.running.then(
      () => {
        if (!this.stopped) this.eviction.begin();
      },
      (error: unknown) => {
        if (!isThreadStopped(error)) log.error({ err: error }, "a thread of the node did not start");
      },
    );
  }

  /** The sync path is there. Call once. */
  attach(owner: ThreadOwner): void {
    this.giveOwner(owner);
  }

  /** A thread that was started beside these is part of /metrics. */
  addMetrics(metrics: () => Promise<MetricSnapshot[]>): void {
    this.metrics.add(metrics);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    const threads = [this.pleg, this.server, this.prober, this.imageGc, this.eviction];
    await Promise.all(threads.map((thread) => thread.stop()));
  }

  private async startAll(): Promise<void> {
    await this.pleg.thread.start();
    // Pods do not need these: one that fails at first is started again beside the running node.
    for (const { thread } of [this.server, this.imageGc]) {
      if (this.stopped) return;
      await thread.startTried();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
