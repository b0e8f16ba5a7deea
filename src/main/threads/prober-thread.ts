// The prober thread as main runs it, and what it has in common with the peers thread. A thread starts with the first
// pod that has probes for it. It gets the whole set at each start and changes in order afterwards. The probe manager
// receives its records.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { QueueReader } from "../../shared/base/queue/queue-reader.js";
import {
  probeThreadOf,
  type ProbedPod,
  type ProberControl,
  type ProberInit,
  type ProbeRecord,
} from "../../shared/contracts/prober.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import type { Remote } from "../../shared/thread/remote-calls.js";
import type { ProberPort } from "../model/prober-port.js";
import { PodDeltas } from "./pod-deltas.js";
import { probeUserAgent } from "./probe-user-agent.js";
import { readRecords } from "./read-records.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import type { ThreadFacts, ThreadHost } from "./thread-host.js";
import type { ThreadOwner } from "./thread-owner.js";

/** The threads that run probes (docs/adr/0075): `probeThreadOf` says which one runs a probe. */
type ProbeThreadName = ReturnType<typeof probeThreadOf>;

export interface ProbeThreadOptions<Name extends ProbeThreadName, Init> {
  context: ThreadHost<Name>;
  init: Init;
  clock: Clock;
  log: Logger;
  owner: Promise<Pick<ThreadOwner, "onProbeRecord" | "probedPods">>;
}

export class ProbeThread<Name extends ProbeThreadName, Control extends ProberControl, Init> implements ProberPort {
  readonly thread: SupervisedThread<Control>;
  private records: QueueReader<ProbeRecord> | undefined;
  private started = false;
  private readonly deltas: PodDeltas<ProbedPod>;

  constructor(
    private readonly name: Name,
    protected readonly options: ProbeThreadOptions<Name, Init>,
  ) {
    this.deltas = new PodDeltas({
      thread: name,
      encode: (pod) => ({ item: pod, size: JSON.stringify(pod.probes).length }),
      send: (set, gone) => this.control.applyPods({ set, gone }),
      // A probe begins when its container does.
      collectMs: 0,
      clock: options.clock,
      log: options.log,
    });
    this.thread = superviseThread<Control, Init>({
      ...options.context.common(name),
      init: () => options.init,
      onRunning: () => this.join(),
      onExit: (exit) => {
        this.detach();
        this.onThreadExit();
        options.context.exited(exit);
      },
    });
  }

  get podsBehind(): number {
    return this.deltas.behind;
  }

  setPod(pod: ProbedPod): void {
    const own = this.ownPart(pod);
    if (!this.started && own.probes.length === 0) return;
    this.start();
    this.deltas.change([[own.uid, own]], []);
  }

  podRemoved(uid: PodUid): void {
    if (!this.started) return;
    this.deltas.change([], [uid]);
  }

  /** For /metrics; nothing while no pod has probes. */
  async metrics(): Promise<MetricSnapshot[]> {
    return this.started ? [await this.control.metrics()] : [];
  }

  /** For /metrics/probes. */
  async probeMetrics(): Promise<MetricSnapshot[]> {
    return this.started ? [await this.control.probeMetrics()] : [];
  }

  async stop(): Promise<void> {
    await this.thread.stop();
    this.detach();
  }

  protected start(): void {
    if (this.started) return;
    this.started = true;
    this.thread.startInBackground();
  }

  /** The methods that all threads with probes have. */
  private get control(): Remote<ProberControl> {
    return this.thread.call as Remote<ProberControl>;
  }

  private ownPart({ probes, ...pod }: ProbedPod): ProbedPod {
    return { ...pod, probes: probes.filter(({ action }) => probeThreadOf(action) === this.name) };
  }

  protected async join(): Promise<void> {
    const { clock, log } = this.options;
    const [owner, { probeRecordCodec }] = await Promise.all([
      this.options.owner,
      import("../../shared/contracts/prober-codec.js"),
    ]);
    this.detach();
    this.records = readRecords(this.thread, {
      codec: probeRecordCodec,
      onRecord: (record) => owner.onProbeRecord(record),
      unreadable: `cannot handle a record of the ${this.name} thread; restarting the thread`,
      clock,
      log,
    });
    await this.deltas.join(
      () => this.control.setPods([]),
      () =>
        owner
          .probedPods()
          .map((pod) => this.ownPart(pod))
          .filter(({ probes }) => probes.length > 0)
          .map((pod) => [pod.uid, pod] as const),
    );
  }

  protected onThreadExit(): void {
    // Nothing more than detach.
  }

  private detach(): void {
    this.deltas.leave();
    this.records?.stop();
    this.records = undefined;
  }
}

export class ProberThread extends ProbeThread<"prober", ProberControl, ProberInit> {
  constructor(options: ProbeThreadOptions<"prober", ProberInit>) {
    super("prober", options);
  }
}

export function proberInit({ settings }: ThreadFacts): ProberInit {
  return {
    endpoint: settings.runtime.containerRuntimeEndpoint,
    runtimeRequestTimeoutMs: settings.runtime.runtimeRequestTimeoutMs,
    criChannel: settings.criChannel,
    userAgent: probeUserAgent(),
  };
}
