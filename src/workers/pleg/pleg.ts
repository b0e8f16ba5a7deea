// The pod lifecycle event generator: the one reader of the runtime. It relists, follows events and cgroup removals,
// inspects single pods on request, and publishes their observed states to main.
// Invariant: one hung container or call delays its own pod only; every request is answered by a record with at
// least its generation, or by inspect-failed; equal state is published once.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { BoardWriter } from "../../shared/base/queue/board.js";
import type { QueueWriter } from "../../shared/base/queue/queue-writer.js";
import type {
  InspectRequest,
  PlegInit,
  PlegWireRecord,
  RuntimeState,
  WatchedPod,
} from "../../shared/contracts/pleg.js";
import { PLEG_RELIST } from "../../shared/contracts/thread-ops.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { CriUnavailableError } from "../../shared/kubernetes/cri/errors.js";
import { ContainerState, PodSandboxState } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { Asked } from "./asked.js";
import { CgroupWatches } from "./cgroup-watches.js";
import { EventStream, type EventStreamState } from "./event-stream.js";
import { ExitFollowUp } from "./exit-follow-up.js";
import type { PlegMetrics } from "./metrics.js";
import { PodInspector } from "./pod-inspector.js";
import { PublishedPod } from "./published-pod.js";
import { GONE, Relister, signatureOf, type ChangedPod, type RelistResult } from "./relister.js";
import { askRuntime, nextAskMs, sameRuntimeState, UNKNOWN_RUNTIME } from "./runtime-watch.js";

/** The runtime counts as idle after this time without a change. */
const IDLE_AFTER_MS = 10_000;

export interface PlegDeps {
  cri: CriClient;
  clock: Clock;
  log: Logger;
  /** The ring to main. */
  records: Pick<QueueWriter<PlegWireRecord>, "push">;
  metrics: PlegMetrics;
  /** This thread's slot: others see there when a relist last succeeded. */
  board?: Pick<BoardWriter, "setOp" | "worked">;
  /** As RelisterOptions has it. */
  leftOut?: () => readonly PodUid[];
}

interface Published {
  pod: PublishedPod;
  signature: string;
  generation: number;
  /** A container or its sandbox is up. */
  runs: boolean;
}

export class Pleg {
  private readonly inspector: PodInspector;
  private readonly relister: Relister;
  private readonly watches: CgroupWatches;
  private readonly followUp: ExitFollowUp;
  private readonly events: EventStream | undefined;
  /** Last published state per pod, and the generation it carried. */
  private readonly published = new Map<PodUid, Published>();
  private readonly asked: Asked;
  /**
   * Pods that differ from their published state while main's inspect request is expected: the next relist checks
   * whether it came.
   */
  private left = new Set<PodUid>();
  private runtime: RuntimeState = UNKNOWN_RUNTIME;
  private runtimePublished = false;
  private eventState: EventStreamState = "absent";
  private relistTimer: Timer | undefined;
  private statusTimer: Timer | undefined;
  private relisting: Promise<void> | undefined;
  private asking: Promise<void> | undefined;
  private lastChangeAt: number;
  private lastRelistAt: number | undefined;
  private relistFailing = false;
  private stopped = false;

  constructor(
    private readonly init: PlegInit,
    private readonly deps: PlegDeps,
  ) {
    const { cri, clock, log, leftOut } = deps;
    this.lastChangeAt = clock.monotonic();
    this.asked = new Asked(clock);
    this.inspector = new PodInspector({
      cri,
      clock,
      deadlineMs: init.inspectDeadlineMs,
      concurrency: init.inspectConcurrency,
      outcome: {
        observed: (pod) => this.onObserved(pod),
        failed: (uid, generation, error) => this.onInspectFailed(uid, generation, error),
      },
    });
    this.relister = new Relister({
      cri,
      clock,
      deadlineMs: init.listDeadlineMs,
      leftOut,
    });
    this.followUp = new ExitFollowUp(clock, (uid) => this.inspector.onEvent(uid));
    this.watches = new CgroupWatches((uid) => this.followUp.start(uid), log);
    this.events = init.useEvents
      ? new EventStream({
          cri,
          clock,
          log,
          onEvent: (uid, isStart) => {
            // Main requests an inspection after it starts a container; if it does not, the relist finds the change.
            if (!isStart || !this.asked.has(uid)) this.inspector.onEvent(uid);
          },
          onState: (state) => this.onEventState(state),
          metrics: deps.metrics,
        })
      : undefined;
  }

  start(): void {
    this.events?.start();
    this.askRuntime();
    this.scheduleRelist(0);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.relistTimer?.cancel();
    this.statusTimer?.cancel();
    this.followUp.close();
    this.inspector.stop();
    this.watches.close();
    await Promise.all([this.events?.stop(), this.relisting, this.asking]);
  }

  request(request: InspectRequest): void {
    this.lastChangeAt = this.deps.clock.monotonic();
    this.asked.note(request.uid);
    this.inspector.request(request.uid, request.generation, request.hints);
  }

  setWatches(pods: WatchedPod[]): void {
    this.watches.set(pods);
  }
  watch(pod: WatchedPod): void {
    this.watches.add(pod);
    // Without directories: main is terminating the pod and inspects it after each of its calls.
    if (pod.watchDirs.length === 0) this.followUp.end(pod.uid);
  }
  unwatch(uid: PodUid): void {
    this.watches.remove(uid);
    this.followUp.end(uid);
    this.published.delete(uid);
    this.asked.forget(uid);
    this.left.delete(uid);
    this.inspector.forget(uid);
  }

  private onObserved(pod: ObservedPod): void {
    this.deps.metrics.inspected(this.deps.clock.now() - pod.observedAt);
    const last = this.published.get(pod.uid);
    const published = last?.pod ?? new PublishedPod();
    const { records, same } = published.take(pod);
    if (same && last !== undefined && last.generation >= pod.generation) return;
    if (!same) {
      this.lastChangeAt = this.deps.clock.monotonic();
      this.followUp.end(pod.uid);
    }
    // A removed pod without a request of main is forgotten.
    const over = pod.generation === 0 && pod.sandboxes.length + pod.containers.length === 0;
    const signature = signatureOf(pod.sandboxes, pod.containers);
    if (over) this.published.delete(pod.uid);
    else this.published.set(pod.uid, { pod: published, signature, generation: pod.generation, runs: runsAny(pod) });
    for (const record of records) this.publish(record);
  }

  private onInspectFailed(uid: PodUid, generation: number, error: unknown): void {
    const message = messageOf(error);
    const code = error instanceof Error ? error.name : "Error";
    // The runtime record reports an absent runtime once, instead of once per pod.
    if (error instanceof CriUnavailableError) this.askRuntime();
    else this.deps.log.warn({ uid, err: error }, `inspection of pod ${uid} failed: ${message}`);
    this.publish({ kind: "inspect-failed", uid, generation, code, message });
  }

  /** An inspection under way may end after the queue was closed. */
  private publish(record: PlegWireRecord): void {
    if (!this.stopped) this.deps.records.push(record);
  }

  private onEventState(state: EventStreamState): void {
    this.eventState = state;
    if (this.runtime.reachable) this.setRuntime({ ...this.runtime, events: state === "working" });
  }

  private scheduleRelist(ms: number): void {
    if (this.stopped) return;
    this.relistTimer?.cancel();
    this.relistTimer = this.deps.clock.after(ms, () => {
      this.relisting = this.relist().finally(() => {
        this.relisting = undefined;
        this.scheduleRelist(this.relistPeriod());
      });
    });
  }

  private relistPeriod(): number {
    const idle = this.deps.clock.monotonic() - this.lastChangeAt > IDLE_AFTER_MS;
    // A pod of which nothing is up has no exits to see, and may have no cgroup to watch.
    const running = [...this.published].flatMap(([uid, { runs }]) => (runs ? [uid] : []));
    const covered = this.eventState === "working" || this.watches.covers(running);
    return idle && covered && !this.relistFailing ? this.init.relistIdleMs : this.init.relistActiveMs;
  }

  private async relist(): Promise<void> {
    const startedAt = this.deps.clock.monotonic();
    this.deps.board?.setOp(PLEG_RELIST);
    try {
      const result = await this.relister.relist();
      this.relistFailing = false;
      this.deps.board?.worked();
      this.lookAtChanged(result);
      this.inspector.onRelisted();
      if (result.changed.size > 0) this.lastChangeAt = startedAt;
      this.deps.metrics.relisted({
        atMs: this.deps.clock.now(),
        durationMs: result.durationMs,
        intervalMs: this.lastRelistAt === undefined ? undefined : startedAt - this.lastRelistAt,
      });
      const uids = this.lastRelistAt === undefined ? [...result.pods.keys()] : [];
      this.lastRelistAt = startedAt;
      this.publish({ kind: "relisted", uids, durationMs: result.durationMs });
    } catch (error) {
      if (error instanceof CriUnavailableError) this.askRuntime();
      else if (!this.relistFailing) {
        const message = messageOf(error);
        this.deps.log.error(
          { err: error },
          `relist failed; the states of all pods are outdated until one succeeds: ${message}`,
        );
      }
      this.relistFailing = true;
    } finally {
      this.deps.board?.setOp(0);
    }
  }

  /** Main inspects the pods that it changes: skip such a pod once, until the next relist at the latest. */
  private lookAtChanged({ changed, pods }: RelistResult): void {
    const leftBefore = this.left;
    this.left = new Set();
    for (const [uid, pod] of changed) {
      if (this.isPublished(uid, pod)) continue;
      if (this.asked.recently(uid) && !leftBefore.has(uid)) this.left.add(uid);
      else this.inspector.relisted(uid, pod);
    }
    for (const uid of leftBefore) {
      const pod = pods.get(uid) ?? GONE;
      if (!changed.has(uid) && !this.isPublished(uid, pod)) this.inspector.relisted(uid, pod);
    }
  }

  /** Main has the state: by its inspect request, or because the pod is forgotten. */
  private isPublished(uid: PodUid, pod: ChangedPod): boolean {
    const published = this.published.get(uid);
    if (published !== undefined) return published.signature === pod.signature;
    return pod === GONE && !this.inspector.has(uid);
  }

  /** Asks at once, then again and again by timer; one question at a time. */
  private askRuntime(): void {
    if (this.stopped || this.asking !== undefined) return;
    this.statusTimer?.cancel();
    const deadlineMs = Math.min(this.init.runtimeRequestTimeoutMs, this.init.statusPeriodMs * 2);
    this.asking = askRuntime(this.deps.cri, deadlineMs, this.eventState === "working").then((state) => {
      const returned = state.reachable && !this.runtime.reachable;
      this.setRuntime(state);
      this.asking = undefined;
      if (this.stopped) return;
      this.statusTimer = this.deps.clock.after(nextAskMs(state, this.init.statusPeriodMs), () => this.askRuntime());
      if (returned && this.relisting === undefined) this.scheduleRelist(0);
    });
  }

  private setRuntime(state: RuntimeState): void {
    if (this.runtimePublished && sameRuntimeState(state, this.runtime)) return;
    this.runtime = state;
    this.runtimePublished = true;
    this.publish({ kind: "runtime", state });
  }
}

function runsAny({ sandboxes, containers }: ObservedPod): boolean {
  return (
    containers.some(({ state }) => state !== ContainerState.CONTAINER_EXITED) ||
    sandboxes.some(({ state }) => state === PodSandboxState.SANDBOX_READY)
  );
}
