// Main's side of the eviction thread: it gets all pods at each start and changes in order afterwards. Its records are
// passed to main's side of eviction, which is loaded with the thread's first start.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { QueueReader } from "../../shared/base/queue/queue-reader.js";
import type {
  EvictionControl,
  EvictionInit,
  EvictionPod,
  EvictionRecord,
  EvictionUpcalls,
} from "../../shared/contracts/eviction.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import { parseEviction } from "../command/rules/parse-eviction.js";
import type { EvictionThreadPort } from "../resources/eviction/eviction.js";
import { PodDeltas } from "./pod-deltas.js";
import { readRecords } from "./read-records.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import type { ThreadFacts, ThreadHost } from "./thread-host.js";
import type { EvictionOwner } from "./thread-owner.js";

/** A thread that hangs is ended sooner; one on a busy machine is not. */
const SNAPSHOT_MS = 60_000;
/** A quarter of the time between two of the thread's looks at the node. */
const COLLECT_MS = 250;
/** Size of a container or a volume in a message, about. */
const BYTES_PER_ENTRY = 200;

export interface EvictionThreadOptions {
  context: ThreadHost<"eviction">;
  init: EvictionInit;
  clock: Clock;
  log: Logger;
  /** Main's upcalls once they exist; loaded at first use. */
  owner: Promise<{ eviction(): Promise<EvictionOwner> }>;
}

export class EvictionThread implements EvictionThreadPort {
  readonly thread: SupervisedThread<EvictionControl>;
  private records: QueueReader<EvictionRecord> | undefined;
  private readonly deltas: PodDeltas<EvictionPod>;

  constructor(private readonly options: EvictionThreadOptions) {
    this.deltas = new PodDeltas({
      thread: "eviction",
      encode: (pod) => ({ item: pod, size: BYTES_PER_ENTRY * (1 + pod.containers.length + pod.volumes.length) }),
      send: (set, ended) => this.thread.call.applyPods({ set, ended }),
      collectMs: COLLECT_MS,
      clock: options.clock,
      log: options.log,
    });
    const upcalls = async (): Promise<EvictionUpcalls> => (await this.owner()).upcalls;
    this.thread = superviseThread<EvictionControl, EvictionInit, EvictionUpcalls>({
      ...options.context.common("eviction"),
      init: () => options.init,
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

  get podsBehind(): number {
    return this.deltas.behind;
  }

  setPod(pod: EvictionPod): void {
    this.deltas.change([[pod.uid, pod]], []);
  }

  podTerminated(uid: PodUid): void {
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
    return (await this.options.owner).eviction();
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
      clock,
      log,
    });
    // In one message: with a part of the pods the thread would evict the wrong one. Running pods alone are in it.
    await this.deltas.join(() =>
      thread.within(SNAPSHOT_MS).setPods(owner.pods(), owner.ordersUnderWay(), owner.pressures()),
    );
  }

  private detach(): void {
    this.deltas.leave();
    this.records?.stop();
    this.records = undefined;
  }
}

/** Upstream checks the node every ten seconds. */
const SAMPLE_PERIOD_MS = 1000;

export function evictionInit({ settings }: ThreadFacts): EvictionInit {
  return {
    // Validation has refused what can't be read.
    thresholds: parseEviction(settings.eviction).thresholds,
    evictionPressureTransitionPeriodMs: settings.eviction.evictionPressureTransitionPeriodMs,
    evictionMaxPodGracePeriod: settings.eviction.evictionMaxPodGracePeriod,
    kernelMemcgNotification: settings.eviction.kernelMemcgNotification,
    localStorageCapacityIsolation: settings.eviction.localStorageCapacityIsolation,
    enforcePods: settings.resources.enforceNodeAllocatable.includes("pods"),
    rootDir: settings.rootDir,
    podLogsDir: settings.containerLogs.podLogsDir,
    cgroupRoot: settings.cgroups.cgroupRoot,
    cgroupsPerQOS: settings.cgroups.cgroupsPerQOS,
    containerRuntimeEndpoint: settings.runtime.containerRuntimeEndpoint,
    imageServiceEndpoint: settings.runtime.imageServiceEndpoint,
    runtimeRequestTimeoutMs: settings.runtime.runtimeRequestTimeoutMs,
    listStreaming: settings.runtime.criListStreaming,
    criChannel: settings.criChannel,
    samplePeriodMs: SAMPLE_PERIOD_MS,
  };
}
