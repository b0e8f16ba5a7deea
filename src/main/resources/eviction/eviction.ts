// Main's side of eviction: sends pods to the eviction thread, executes its orders and handles its upcalls
// (docs/adr/0030).
// Invariant: the thread is notified of every pod's termination, also of a pod that it did not evict. The node pressures
// that it reports stay in force until its next report.

import { type EvictionPod, type EvictionRecord, type EvictionUpcalls } from "../../../shared/contracts/eviction.js";
import type { Pressure } from "../../../shared/contracts/node-status.js";
import { podDescription, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { type OrdersDeps, Orders } from "./eviction-orders.js";
import type { NodePressures } from "./pressures.js";
import { type OomDeps, reportOom } from "./report-oom.js";
import { RunningPods } from "./running-pods.js";

/** The thread's port for changes; after a restart of the thread it receives the whole set. */
export interface EvictionThreadPort {
  setPod(pod: EvictionPod): void;
  podTerminated(uid: PodUid): void;
}

export interface EvictionDeps extends Omit<OrdersDeps, "pods" | "events">, Pick<OomDeps, "observed"> {
  rootDir: string;
  thread: EvictionThreadPort;
  pressures: NodePressures;
  upcalls: EvictionUpcalls;
  events: EventRecorder;
  log: Logger;
}

export class Eviction {
  readonly upcalls: EvictionUpcalls;
  private readonly running: RunningPods;
  private readonly orders: Orders;

  constructor(private readonly deps: EvictionDeps) {
    this.upcalls = deps.upcalls;
    this.running = new RunningPods(deps.rootDir);
    this.orders = new Orders({
      pods: this.running,
      fail: (uid, failure, grace) => deps.fail(uid, failure, grace),
      events: deps.events,
      metrics: deps.metrics,
      log: deps.log,
    });
  }

  /** For a thread that has just started. */
  pods(): EvictionPod[] {
    return this.running.all();
  }

  /** Pods whose eviction is in progress. */
  ordersUnderWay(): PodUid[] {
    return this.orders.underWay();
  }

  /** The pressures in force, also those that an earlier run of the thread reported. */
  pressures(): Pressure[] {
    return [...this.deps.pressures.current];
  }

  /** The pod was admitted, or its definition changed. */
  runs(pod: Pod): void {
    try {
      const update = this.running.set(pod);
      if (update !== undefined) this.deps.thread.setPod(update);
    } catch (error) {
      // Admission has read the same quantities; a pod that slipped through is not evicted.
      this.deps.log.error({ err: error }, `cannot watch pod ${podDescription(pod)} for eviction: ${errorText(error)}`);
    }
  }

  /** The pod has terminated, and its files on disk are removed. */
  podTerminated(uid: PodUid): void {
    this.orders.podTerminated(uid);
    if (this.running.remove(uid)) this.deps.thread.podTerminated(uid);
  }

  onRecord(record: EvictionRecord): void {
    const { thread, events, pressures, log } = this.deps;
    switch (record.kind) {
      case "evict":
        if (!this.orders.carryOut(record)) this.answerDropped(record.uid, thread);
        return;
      case "pressures":
        if (pressures.set(record.pressures)) log.info({ pressures: record.pressures }, described(record.pressures));
        return;
      case "threshold-met":
        events.node({
          type: "Warning",
          reason: "EvictionThresholdMet",
          message: `Attempting to reclaim ${record.resource}`,
        });
        return;
      case "oom":
        reportOom({ pod: (uid) => this.running.get(uid)?.pod, observed: this.deps.observed, events, log }, record);
        return;
    }
  }

  /** The thread waits until the pod terminates: send it the pod's current state. */
  private answerDropped(uid: PodUid, thread: EvictionThreadPort): void {
    const known = this.running.get(uid);
    if (known === undefined) thread.podTerminated(uid);
    else thread.setPod(known.published);
  }
}

function described(pressures: readonly string[]): string {
  return pressures.length === 0
    ? "the node is no longer under resource pressure"
    : `the node is under ${pressures.join(", ")}`;
}
