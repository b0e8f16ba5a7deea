// Orders of the eviction thread carried out: the pod fails with the reason Evicted and never runs again.
// Invariant: an order counts for the pod it was judged by only, by UID and generation; no order evicts a critical
// pod; an order for a pod that is being evicted may only shorten its end.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { type EvictionRecord, LOCAL_LIMITS } from "../../../shared/contracts/eviction.js";
import { podDescription, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/thread-log.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { PodFailure } from "../../model/refusal.js";
import { isCriticalPod } from "../oom-score.js";
import type { EvictionMetrics } from "./metrics.js";
import type { RunningPods } from "./running-pods.js";

type EvictionOrder = Extract<EvictionRecord, { kind: "evict" }>;

/** status.reason of an evicted pod, and its event. */
const EVICTED = "Evicted";

export interface OrdersDeps {
  pods: Pick<RunningPods, "get">;
  /** Resolves when no container of the pod runs; rejects when the kubelet stops before. */
  fail(uid: PodUid, failure: PodFailure, grace: { graceSeconds: number }): Promise<void>;
  events: Pick<EventRecorder, "pod">;
  metrics: EvictionMetrics;
  log: Logger;
}

export class Orders {
  /** Pods whose eviction is in progress, until they are terminated. */
  private readonly begun = new Set<PodUid>();

  constructor(private readonly deps: OrdersDeps) {}

  /** @returns false when the order was dropped */
  carryOut(order: EvictionOrder): boolean {
    const { pods, metrics, log } = this.deps;
    const { uid, generation, signal } = order;
    const known = pods.get(uid);
    if (known?.published.generation !== generation) {
      metrics.outdated();
      log.info({ uid, signal }, `the order to evict pod ${uid} is outdated: the pod has terminated or was replaced`);
      return false;
    }
    if (isCriticalPod(known.pod)) {
      log.error({ uid, signal }, `pod ${podDescription(known.pod)} is critical; cannot evict it`);
      return false;
    }
    this.evict(known.pod, order);
    return true;
  }

  /** Pods whose eviction is in progress. */
  underWay(): PodUid[] {
    return [...this.begun];
  }

  podTerminated(uid: PodUid): void {
    this.begun.delete(uid);
  }

  private evict(pod: Pod, order: EvictionOrder): void {
    const { events, metrics, log } = this.deps;
    const { uid, signal, graceSeconds, message, annotations, sampleAgeMs } = order;
    if (!this.begun.has(uid)) {
      this.begun.add(uid);
      metrics.evicted(signal, sampleAgeMs);
      log.warn(
        { uid, signal, graceSeconds, sampleAgeMs: Math.round(sampleAgeMs) },
        `evicting pod ${podDescription(pod)}: ${message}`,
      );
      events.pod(pod, { type: "Warning", reason: EVICTED, message, annotations });
    }
    // A pod over its own limit does not count as a disruption.
    const own = LOCAL_LIMITS.some((limit) => limit === signal);
    const failure: PodFailure = omitUndefined<PodFailure>({
      reason: EVICTED,
      message,
      disruption: own ? undefined : message,
    });
    this.deps.fail(uid, failure, { graceSeconds }).catch((error: unknown) => {
      log.debug({ uid, err: error }, `the kubelet stops before pod ${uid} has terminated: ${errorText(error)}`);
    });
  }
}
