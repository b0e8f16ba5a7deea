// The prober thread as main runs it. It starts with the first pod that has probes. It gets the whole set at each start and changes in order
// afterwards. The probe manager receives its records.
import type { Clock } from "../../shared/clock/clock.js";
import type { ProbedPod, ProberControl, ProberInit, ProbeRecord } from "../../shared/contracts/prober.js";
import type { Logger } from "../../shared/log/logger.js";
import type { MetricSnapshot } from "../../shared/metrics/snapshot.js";
import type { QueueReader } from "../../shared/queue/queue-reader.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import { PodDeltas } from "./pod-deltas.js";
import { readRecords } from "./read-records.js";
import type { ThreadFacts, ThreadHost } from "./thread-host.js";
import { KUBERNETES_VERSION } from "../command/version.js";
import type { ThreadOwner } from "./thread-owner.js";
import type { ProberPort } from "../model/probe-port.js";

export interface ProberThreadOptions {
  context: ThreadHost<"prober">;
  init: ProberInit;
  clock: Clock;
  log: Logger;
  owner: Promise<Pick<ThreadOwner, "onProbeRecord" | "probedPods">>;
}

export class ProberThread implements ProberPort {
  readonly thread: SupervisedThread<ProberControl>;
  private records: QueueReader<ProbeRecord> | undefined;
  private started = false;
  private readonly deltas: PodDeltas<ProbedPod>;

  constructor(private readonly options: ProberThreadOptions) {
    this.deltas = new PodDeltas(
      (set, gone) => this.thread.call.applyPods({ set, gone }),
      (error) =>
        options.log.warn(
          { err: error },
          "the prober thread did not accept a change; it receives all probes after its restart",
        ),
    );
    this.thread = superviseThread<ProberControl, ProberInit>({
      ...options.context.common("prober"),
      init: () => options.init,
      onRunning: (thread) => this.join(thread),
      onExit: (exit) => {
        this.detach();
        options.context.exited(exit);
      },
    });
  }

  setPod(pod: ProbedPod): void {
    if (!this.started && pod.probes.length === 0) return;
    this.start();
    this.deltas.change([[pod.uid, pod]], []);
  }

  podRemoved(uid: string): void {
    if (!this.started) return;
    this.deltas.change([], [uid]);
  }

  /** For /metrics; nothing while no pod has probes. */
  async metrics(): Promise<MetricSnapshot[]> {
    return this.started ? [await this.thread.call.metrics()] : [];
  }

  /** For /metrics/probes. */
  async probeMetrics(): Promise<MetricSnapshot[]> {
    return this.started ? [await this.thread.call.probeMetrics()] : [];
  }

  async stop(): Promise<void> {
    await this.thread.stop();
    this.detach();
  }

  private start(): void {
    if (this.started) return;
    this.started = true;
    this.thread.startInBackground();
  }

  private async join(thread: SupervisedThread<ProberControl>): Promise<void> {
    const { clock, log } = this.options;
    const [owner, { probeRecordCodec }] = await Promise.all([
      this.options.owner,
      import("../../shared/contracts/prober-codec.js"),
    ]);
    this.detach();
    this.records = readRecords(thread, {
      codec: probeRecordCodec,
      onRecord: (record) => owner.onProbeRecord(record),
      unreadable: "cannot handle a record of the prober thread; restarting the thread",
      ...{ clock, log },
    });
    await this.deltas.join(() => thread.call.setPods(owner.probedPods()));
  }

  private detach(): void {
    this.deltas.leave();
    this.records?.stop();
    this.records = undefined;
  }
}

export function proberInit({ settings }: ThreadFacts): ProberInit {
  const [major = "", minor = ""] = KUBERNETES_VERSION.slice(1).split(".");
  return {
    endpoint: settings.runtime.containerRuntimeEndpoint,
    runtimeRequestTimeoutMs: settings.runtime.runtimeRequestTimeoutMs,
    userAgent: `kube-probe/${major}.${minor}`,
  };
}
