// The eviction thread as main runs it: given all pods at each start and changes in order afterwards, its records handed to main's
// side of eviction, which is loaded with the thread's first start.
import type { Clock } from "../../shared/clock/clock.js";
import type {
  EvictionControl,
  EvictionInit,
  EvictionPod,
  EvictionRecord,
  EvictionUpcalls,
} from "../../shared/contracts/eviction.js";
import type { Logger } from "../../shared/log/logger.js";
import type { MetricSnapshot } from "../../shared/metrics/snapshot.js";
import type { QueueReader } from "../../shared/queue/queue-reader.js";
import type { Eviction, EvictionThreadPort } from "../eviction/eviction.js";
import { isThreadStopped } from "./errors.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import { PodDeltas } from "./pod-deltas.js";
import { readRecords } from "./read-records.js";
import type { ThreadContext } from "./thread-context.js";

/** One order at a time, and a storm of OOM kills. */
const RING_BYTES = { inbox: 1 << 12, outbox: 1 << 18 };

export type EvictionOwner = Pick<Eviction, "pods" | "ordersUnderWay" | "pressures" | "onRecord" | "upcalls">;

export interface EvictionThreadOptions {
  context: ThreadContext;
  init: EvictionInit;
  clock: Clock;
  log: Logger;
  /** Answers from the moment it is there; loaded when it is asked for. */
  owner: Promise<{ eviction: () => Promise<EvictionOwner> }>;
}

export class EvictionThread implements EvictionThreadPort {
  readonly thread: SupervisedThread<EvictionControl>;
  private records: QueueReader<EvictionRecord> | undefined;
  private readonly deltas: PodDeltas<EvictionPod>;

  constructor(private readonly options: EvictionThreadOptions) {
    this.deltas = new PodDeltas(
      (set, ended) => this.thread.call.applyPods({ set, ended }),
      (error) =>
        options.log.warn(
          { err: error },
          "the eviction thread did not accept a change; it receives all pods after its restart",
        ),
    );
    const upcalls = async (): Promise<EvictionUpcalls> => (await this.owner()).upcalls;
    this.thread = superviseThread<EvictionControl, EvictionInit, EvictionUpcalls>({
      ...options.context.common("eviction"),
      entry: new URL("../../workers/eviction/index.js", import.meta.url),
      init: () => options.init,
      ringCapacities: RING_BYTES,
      upcalls: {
        removeDeadContainers: async () => (await upcalls()).removeDeadContainers(),
        removeUnusedImages: async () => (await upcalls()).removeUnusedImages(),
        podDisks: async (uids, maxAgeMs, withinMs) => (await upcalls()).podDisks(uids, maxAgeMs, withinMs),
        imageFileSystems: async () => (await upcalls()).imageFileSystems(),
        runningContainers: async (uid) => (await upcalls()).runningContainers(uid),
      },
      onRunning: (thread) => this.join(thread),
      onExit: (exit) => {
        this.detach();
        options.context.exited(exit);
      },
    });
  }

  /** The caller does not wait for it. */
  begin(): void {
    this.thread.start().catch((error: unknown) => {
      if (!isThreadStopped(error)) this.options.log.error({ err: error }, "the eviction thread did not start");
    });
  }

  setPod(pod: EvictionPod): void {
    this.deltas.change([[pod.uid, pod]], []);
  }

  podEnded(uid: string): void {
    this.deltas.change([], [uid]);
  }

  /** For /metrics; nothing before its first start. */
  async metrics(): Promise<MetricSnapshot[]> {
    return this.thread.generation === 0 ? [] : [await this.thread.call.metrics()];
  }

  async stop(): Promise<void> {
    await this.thread.stop();
    this.detach();
  }

  private async owner(): Promise<EvictionOwner> {
    const { eviction } = await this.options.owner;
    return eviction();
  }

  private async join(thread: SupervisedThread<EvictionControl>): Promise<void> {
    const { clock, log } = this.options;
    const [owner, { evictionRecordCodec }] = await Promise.all([
      this.owner(),
      import("../../shared/contracts/eviction-codec.js"),
    ]);
    this.detach();
    this.records = readRecords(thread, {
      codec: evictionRecordCodec,
      onRecord: (record) => owner.onRecord(record),
      unreadable: "cannot handle a record of the eviction thread; restarting the thread",
      ...{ clock, log },
    });
    await this.deltas.join(() => thread.call.setPods(owner.pods(), owner.ordersUnderWay(), owner.pressures()));
  }

  private detach(): void {
    this.deltas.leave();
    this.records?.stop();
    this.records = undefined;
  }
}
