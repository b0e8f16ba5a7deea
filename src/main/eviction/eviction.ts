// Main's side of eviction: sends pods to the eviction thread, executes its orders and handles its upcalls (docs/adr/0030).
// Invariant: the thread is notified of every pod's termination, also of a pod that it did not evict. The node pressures that it reports
// stay in force until its next report.
import { podDescription, type Pod } from "../../shared/api/pod.js";
import {
  type EvictionPod,
  type EvictionRecord,
  type EvictionUpcalls,
  LOCAL_LIMITS,
} from "../../shared/contracts/eviction.js";
import type { Pressure } from "../../shared/contracts/node-status.js";
import { errorText } from "../../shared/log/error-text.js";
import type { Logger } from "../../shared/log/logger.js";
import type { EventRecorder } from "../model/event-recorder.js";
import type { NodePressures } from "./pressures.js";
import { RunningPods } from "./running-pods.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { EvictionMetrics } from "./metrics.js";
import { isCriticalPod } from "../resources/oom-score.js";
import type { PodFailure } from "../model/refusal.js";

/** The thread's port for changes; after a restart of the thread it receives the whole set. */
export interface EvictionThreadPort {
  setPod(pod: EvictionPod): void;
  podTerminated(uid: string): void;
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
    this.orders = new Orders({ ...deps, pods: this.running });
  }

  /** For a thread that has just started. */
  pods(): EvictionPod[] {
    return this.running.all();
  }

  /** UIDs of pods whose eviction is in progress. */
  ordersUnderWay(): string[] {
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
  podTerminated(uid: string): void {
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
        reportOom({ ...this.deps, pod: (uid) => this.running.get(uid)?.pod }, record);
        return;
    }
  }

  /** The thread waits until the pod terminates: send it the pod's current state. */
  private answerDropped(uid: string, thread: EvictionThreadPort): void {
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

// Reports kills by the kernel's OOM killer. A node out of memory gets a Node event. A container at its limit shows
// OOMKilled in its own status, which the runtime sets, and the log names it.

type OomRecord = Extract<EvictionRecord, { kind: "oom" }>;

interface OomDeps {
  pod: (uid: string) => Pod | undefined;
  observed: (uid: string) => ObservedPod | undefined;
  events: Pick<EventRecorder, "node">;
  log: Pick<Logger, "warn">;
}

/** @internal */
export function reportOom({ pod, observed, events, log }: OomDeps, record: OomRecord): void {
  const { pid, process, cgroup, podUid: uid, containerId, at } = record;
  const seen = uid === undefined ? undefined : observed(uid);
  const container = seen?.containers.find(({ id }) => id === containerId)?.metadata?.name;
  const known = pid !== 0;
  if (cgroup === "/") {
    const victim = known ? `, victim process: ${process}, pid: ${pid}` : "";
    events.node({ type: "Warning", reason: "SystemOOM", message: `System OOM encountered${victim}` });
  }
  const of = [
    ...(uid === undefined ? [] : [podText(uid, pod(uid), seen)]),
    ...(container === undefined ? [] : [`container ${container}`]),
  ].join(", ");
  const who = known ? `process ${process} (pid ${pid})` : "a process";
  log.warn(
    { ...(known && { pid, process }), cgroup, uid, container, containerId, at },
    `the kernel killed ${who}${of === "" ? "" : ` of ${of}`}: ${reasonText(cgroup)}`,
  );
}

/** The name of a pod that was removed meanwhile comes from the last state of the runtime. */
function podText(uid: string, pod: Pod | undefined, seen: ObservedPod | undefined): string {
  if (pod !== undefined) return `pod ${podDescription(pod)}`;
  const { name = "", namespace = "" } = seen ?? {};
  return name === "" ? `pod ${uid}` : `pod ${podDescription({ metadata: { uid, name, namespace } })}`;
}

function reasonText(cgroup: string): string {
  switch (cgroup) {
    case "/":
      return "the machine is out of memory";
    case "":
      return "it, or a cgroup above its own, was at its memory limit";
    default:
      return `cgroup ${cgroup} is at its memory limit`;
  }
}

// Orders of the eviction thread carried out: the pod fails with the reason Evicted and never runs again.
// Invariant: an order counts for the pod it was judged by only, by UID and generation; no order evicts a critical
// pod; an order for a pod that is being evicted may only shorten its end.

type EvictionOrder = Extract<EvictionRecord, { kind: "evict" }>;

/** status.reason of an evicted pod, and its event. */
const EVICTED = "Evicted";

interface OrdersDeps {
  pods: Pick<RunningPods, "get">;
  /** Resolves when no container of the pod runs; rejects when the kubelet stops before. */
  fail(uid: string, failure: PodFailure, grace: { graceSeconds: number }): Promise<void>;
  events: Pick<EventRecorder, "pod">;
  metrics: EvictionMetrics;
  log: Logger;
}

class Orders {
  /** Pods whose eviction is in progress, until they are terminated. */
  private readonly begun = new Set<string>();

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

  /** UIDs of pods whose eviction is in progress. */
  underWay(): string[] {
    return [...this.begun];
  }

  podTerminated(uid: string): void {
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
    const failure: PodFailure = { reason: EVICTED, message, ...(own ? {} : { disruption: message }) };
    this.deps.fail(uid, failure, { graceSeconds }).catch((error: unknown) => {
      log.debug({ uid, err: error }, `the kubelet stops before pod ${uid} has terminated: ${errorText(error)}`);
    });
  }
}
