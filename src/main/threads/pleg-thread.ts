// The pleg thread as main runs it: supervised, its queues connected to the sync path at every start.

import { join } from "node:path";
import type { Clock } from "../../shared/base/clock/clock.js";
import type { QueueReader } from "../../shared/base/queue/queue-reader.js";
import { QueueWriter } from "../../shared/base/queue/queue-writer.js";
import { RingProducer } from "../../shared/base/queue/ring.js";
import type { InspectRequest, PlegControl, PlegInit, PlegWireRecord, WatchedPod } from "../../shared/contracts/pleg.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import { readRecords } from "./read-records.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import type { ThreadFacts, ThreadHost } from "./thread-host.js";
import type { ThreadOwner } from "./thread-owner.js";
import { WholePods } from "./whole-pods.js";

/** Requests that wait for a full ring: one per change of a pod, so this is far beyond any node. */
const MAX_WAITING_REQUESTS = 100_000;
/** A thread that hangs is ended sooner; one on a busy machine is not. */
const SNAPSHOT_MS = 60_000;

export interface PlegThreadOptions {
  context: ThreadHost<"pleg">;
  init: PlegInit;
  clock: Clock;
  log: Logger;
  /** Answers from the moment it is there; no thread runs before. */
  owner: Promise<Pick<ThreadOwner, "onPlegRecord" | "watches" | "resend">>;
}

export class PlegThread {
  readonly thread: SupervisedThread<PlegControl>;
  private requests: QueueWriter<InspectRequest> | undefined;
  private records: QueueReader<PlegWireRecord> | undefined;
  /** The snapshot of the watches is on its way: what comes now arrives after it. */
  private joined = false;

  constructor(private readonly options: PlegThreadOptions) {
    this.thread = superviseThread<PlegControl, PlegInit>({
      ...options.context.common("pleg"),
      init: () => options.init,
      onRunning: (thread) => this.join(thread),
      onExit: (exit) => {
        this.detach();
        options.context.exited(exit);
      },
    });
  }

  inspect(request: InspectRequest): void {
    // Without a thread the request is not lost: the cache repeats it when the thread runs again.
    this.requests?.push(request);
  }

  watch(pod: WatchedPod): void {
    this.control("watch", (thread) => thread.call.watch(pod));
  }

  unwatch(uid: PodUid): void {
    this.control("unwatch", (thread) => thread.call.unwatch(uid));
  }

  /** For /metrics. */
  async metrics(): Promise<MetricSnapshot[]> {
    return [await this.thread.call.metrics()];
  }

  async stop(): Promise<void> {
    await this.thread.stop();
    this.detach();
  }

  private async join(thread: SupervisedThread<PlegControl>): Promise<void> {
    const { clock, log } = this.options;
    // The codec loads all of gRPC: after the start of the thread, this causes no delay.
    const [owner, { inspectRequestCodec, plegRecordCodec }] = await Promise.all([
      this.options.owner,
      import("../../shared/contracts/pleg-codec.js"),
    ]);
    this.detach();
    this.requests = new QueueWriter(
      new RingProducer(thread.inbox),
      inspectRequestCodec,
      { kind: "backpressure", limit: MAX_WAITING_REQUESTS },
      { name: "inspect requests", clock },
    );
    const pods = new WholePods();
    this.records = readRecords(thread, {
      codec: plegRecordCodec,
      onRecord: (record) => {
        const whole = pods.onRecord(record);
        if (whole !== undefined) owner.onPlegRecord(whole);
      },
      unreadable: "cannot handle a record of the pleg thread; restarting the thread",
      clock,
      log,
    });
    const sent = thread.within(SNAPSHOT_MS).setWatches(owner.watches());
    this.joined = true;
    await sent;
    owner.resend();
  }

  private detach(): void {
    this.joined = false;
    this.records?.stop();
    this.requests?.close();
    this.records = undefined;
    this.requests = undefined;
  }

  /** Watches are sent whole at each start, so a call that fails because the thread is away needs no repeat. */
  private control(what: string, call: (thread: SupervisedThread<PlegControl>) => Promise<void>): void {
    if (!this.joined) return;
    call(this.thread).catch((error: unknown) => {
      this.options.log.debug(
        { err: error },
        `the pleg thread did not accept ${what}; it receives all watches after its restart`,
      );
    });
  }
}

/** Longest time for one pod's inspection, and for a whole list. */
const INSPECT_DEADLINE_MS = 5000;
const LIST_DEADLINE_MS = 30_000;

export function plegInit({ settings }: ThreadFacts): PlegInit {
  return {
    endpoint: settings.runtime.containerRuntimeEndpoint,
    imageEndpoint: settings.runtime.imageServiceEndpoint,
    runtimeRequestTimeoutMs: settings.runtime.runtimeRequestTimeoutMs,
    podsDir: join(settings.rootDir, "pods"),
    listStreaming: settings.runtime.criListStreaming,
    criChannel: settings.criChannel,
    inspectDeadlineMs: INSPECT_DEADLINE_MS,
    inspectConcurrency: 16,
    listDeadlineMs: Math.min(settings.runtime.runtimeRequestTimeoutMs, LIST_DEADLINE_MS),
    relistActiveMs: 1000,
    relistIdleMs: 10_000,
    statusPeriodMs: 5000,
    useEvents: true,
  };
}
