// Acts on the pods of this node: workers, loop, statuses, admission in turns. It is made last, of all that it uses.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { forEachIsolated } from "../../../shared/base/turns/for-each-isolated.js";
import { LoopShare } from "../../../shared/base/turns/loop-share.js";
import type { WatchedPod } from "../../../shared/contracts/pleg.js";
import type { PodStatus, ResourceStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { NodeRuntime } from "../../containers/runtime/node-runtime.js";
import type { BackoffOptions } from "../../model/crash-backoff.js";
import { isFinalPhase } from "../../model/phase.js";
import type { PodDelta } from "../../model/pod-delta.js";
import type { PodSubscriberName } from "../../model/pod-events.js";
import type { ProbeResults } from "../../model/probe-results.js";
import type { RestartGates } from "../../model/restart.js";
import { isEnding } from "../../model/synced-pod.js";
import { OrphanCgroups } from "../../resources/cgroups/orphan-cgroups.js";
import type { PlegThread } from "../../threads/pleg-thread.js";
import { AdmissionQueue } from "../admission/admission-queue.js";
import type { Admission } from "../admission/node-admission.js";
import { Resizes, type ResizesDeps } from "../admission/resizes.js";
import { podsWithLogs } from "../collection/pods-with-logs.js";
import { PlanEvents } from "../planner/plan-events.js";
import type { ProbeManager } from "../probes/probe-manager.js";
import type { PodStatuses } from "../status/pod-statuses.js";
import type { ClusterPods } from "./cluster-pods.js";
import { makeStatuses } from "./make-statuses.js";
import { ownSubscribers } from "./own-subscribers.js";
import { PassReports } from "./pass-reports.js";
import { PodCgroupWatches } from "./pod-cgroup-watches.js";
import { PodIntake } from "./pod-intake.js";
import type { PodState } from "./pod-state.js";
import { podWorkerDeps } from "./pod-worker-deps.js";
import { PodWorkers } from "./pod-workers.js";
import { ShownPods } from "./shown-pods.js";
import { SyncLoop } from "./sync-loop.js";

export interface PodSyncDeps {
  state: PodState;
  runtime: NodeRuntime;
  pleg: Pick<PlegThread, "watch" | "unwatch">;
  probes: Pick<ProbeManager, "podSynced" | "podRemoved" | "kills"> & { results: ProbeResults };
  admission: Admission;
  /** On files of volumes. */
  calls: Pick<VolumeCalls, "call">;
  clock: Clock;
  log: Logger;
  gates: RestartGates;
  /** Undefined: containers' statuses do not say. */
  resourceHealth: ((pod: Pod, container: string) => ResourceStatus[]) | undefined;
  backoff: Partial<BackoffOptions>;
  publish(delta: PodDelta): void;
  resize: Pick<ResizesDeps, "counters" | "rules">;
  /** A pod without changes is synced this often, ms. */
  syncFrequencyMs: number;
  /** The loop is alive. */
  stamp(): void;
  setOp(code: number): void;
}

export class PodSync {
  readonly workers: PodWorkers;
  readonly loop: SyncLoop;
  readonly statuses: PodStatuses;
  private readonly admission: AdmissionQueue;
  readonly resizes: Resizes;
  private readonly cgroupWatches: PodCgroupWatches;
  private readonly orphans: OrphanCgroups;
  private readonly shown: ShownPods;
  /** The share of main's event loop that the syncs of all pods take. */
  private readonly share: LoopShare;
  private staticsKnown = false;

  constructor(readonly deps: PodSyncDeps) {
    const { state, runtime, probes, clock, log } = deps;
    const { events, records, allocations } = state;
    const planEvents = new PlanEvents(runtime.events);
    this.share = new LoopShare(clock);
    this.admission = new AdmissionQueue(deps.admission);
    this.cgroupWatches = new PodCgroupWatches({
      pleg: deps.pleg,
      cgroups: runtime.cgroups,
      isTerminating: (uid) => isEnding(state.pods.get(uid)?.state),
    });
    this.resizes = new Resizes({
      allocations,
      clock,
      log: moduleLogger(log, "resizes"),
      events: runtime.events,
      counters: deps.resize.counters,
      rules: deps.resize.rules,
      admission: this.admission,
      podEvents: events,
    });
    this.shown = new ShownPods({
      worker: (uid) => state.pods.get(uid),
      heldPod: (uid) => state.cluster?.heldPods.get(uid),
      clock,
    });
    this.statuses = makeStatuses({
      state,
      runtime,
      clock,
      log,
      calls: deps.calls,
      probes: probes.results,
      resizes: this.resizes,
      gates: deps.gates,
      podLevelResources: deps.resize.rules.podLevel,
      resourceHealth: deps.resourceHealth,
      loop: this.share,
      publish: (delta) => deps.publish(this.shown.delta(delta)),
    });
    const { admission, resizes, statuses, cgroupWatches } = this;
    const intake = new PodIntake({ state, runtime, resizes, admission, statuses, cgroupWatches, clock, log });
    const reports = new PassReports({ events, records, resizes, statuses, planEvents, cgroupWatches });
    this.workers = this.makeWorkers(intake, reports);
    this.orphans = new OrphanCgroups({
      cgroups: runtime.cgroups,
      isKnown: (uid) => state.isTakenOn(uid) || this.isInRuntime(uid),
      log: moduleLogger(log, "cgroups"),
    });
    this.loop = this.makeLoop();
    const own = ownSubscribers({
      state,
      runtime,
      probes,
      planEvents,
      admission,
      resizes,
      statuses,
      cgroupWatches,
      workers: this.workers,
    });
    for (const [name, subscriber] of Object.entries(own)) events.subscribe(name as PodSubscriberName, subscriber);
  }

  /** Resizes of an earlier kubelet go on. Call after the state was loaded, and before any pod is dispatched. */
  start(): void {
    this.resizes.start();
  }

  /** Connects the cluster side, and replays the earlier events: these concern static pods only. */
  join(cluster: ClusterPods): void {
    const { state, log } = this.deps;
    state.cluster = cluster;
    const { accepted, statusComputed, staticsKnown } = cluster.subscriber;
    const failed = (error: unknown, { metadata: { uid } }: Pod): void =>
      log.error({ uid, err: error }, `the status manager cannot handle pod ${uid}: ${messageOf(error)}`);
    const desired = [...state.pods.all()].flatMap((worker) => worker.desired ?? []);
    forEachIsolated(desired, (pod) => accepted?.({ pod, known: true }), failed);
    const republish = (pod: Pod): void => {
      if (pod.status !== undefined) statusComputed?.({ pod, status: pod.status });
    };
    forEachIsolated(this.statuses.all(), republish, failed);
    if (this.staticsKnown) staticsKnown?.(undefined);
    state.events.subscribe("cluster", cluster.subscriber);
  }

  /** All pods as the servers' threads show them. */
  shownPods(): Pod[] {
    const held = [...(this.deps.state.cluster?.heldPods.all() ?? [])];
    return [...this.statuses.all().map((pod) => this.shown.shown(pod)), ...held];
  }

  /** A pod that the API holds back is shown in another form, or no longer. */
  onHeldPod(uid: PodUid): void {
    if (this.statuses.get(uid) !== undefined) return;
    this.deps.publish(this.shown.delta({ set: [], removed: [uid] }));
  }

  /** Another client changed the pod's status in the API: a readiness gate, or its phase. */
  onApiStatus(uid: PodUid, status: PodStatus): void {
    const pod = this.statuses.get(uid);
    if (pod === undefined) return;
    if (!isFinalPhase(status.phase)) this.statuses.refresh(uid);
    else if (!isFinalPhase(pod.status?.phase)) this.endByVerdict(uid, status);
    else this.settleRecord(uid, status);
  }

  /** A terminal pod needs no record once the API server has its phase. */
  settleRecord(uid: PodUid, api: PodStatus | undefined): void {
    if (isFinalPhase(api?.phase) && this.endedStatus(uid, api) !== undefined) this.deps.state.records.markReleased(uid);
  }

  private endByVerdict(uid: PodUid, { phase, reason = "", message = "" }: PodStatus): void {
    this.deps.log.info({ uid, phase, reason }, `pod ${uid} was marked ${phase} in the API; stopping its containers`);
    this.workers.fail(uid, { reason, message }).catch((error: unknown) => {
      this.deps.log.debug({ uid, err: error }, "the kubelet stops before the pod has terminated");
    });
  }

  /**
   * The last status of a pod whose volumes are released and of which nothing runs or will run again. undefined: its
   * definition is still needed. `api`: its status in the API. A final phase there counts only for a pod that this
   * kubelet does not know, because another client may have written it while the pod runs.
   */
  endedStatus(uid: PodUid, api: PodStatus | undefined): PodStatus | undefined {
    const { pods, records } = this.deps.state;
    const worker = pods.get(uid);
    if (worker !== undefined) return worker.state === "finished" ? this.statuses.get(uid)?.status : undefined;
    const record = records.get(uid);
    const mayRun = pods.has(uid) || (record !== undefined && record.finalStatus === undefined);
    return isFinalPhase(api?.phase) && !mayRun ? api : undefined;
  }

  /** A probe result of the pod changed. */
  onProbeResult(uid: PodUid): void {
    // Shown at once: the worker may be busy for long, with a pull or a stop.
    this.statuses.refresh(uid);
    this.deps.state.pods.get(uid)?.requestPass();
  }

  /** All cgroup watches, for a pleg thread that has just started. */
  watches(): WatchedPod[] {
    return this.cgroupWatches.all();
  }

  /** Stops without touching the pods. */
  async stop(): Promise<void> {
    this.loop.stop();
    this.admission.stop();
    await this.workers.stop();
    await this.orphans.stop();
    await this.resizes.stop();
    await this.deps.runtime.volumes.stop();
    this.statuses.stop();
    await this.deps.state.records.flush();
  }

  private makeWorkers(intake: PodIntake, reports: PassReports): PodWorkers {
    const { state, runtime, probes, gates, backoff, syncFrequencyMs, clock, log } = this.deps;
    const { admission, resizes, cgroupWatches, share } = this;
    return new PodWorkers({
      pods: state.pods,
      events: state.events,
      intake,
      workerDeps: podWorkerDeps({
        state,
        runtime,
        reports,
        admission,
        resizes,
        cgroupWatches,
        share,
        gates,
        backoff,
        syncFrequencyMs,
        clock,
        log,
        probes: probes.results,
      }),
      clock,
      log: moduleLogger(log, "pod-worker"),
    });
  }

  private makeLoop(): SyncLoop {
    const { state, clock, log } = this.deps;
    const { cache, records, pods, events } = state;
    return new SyncLoop({
      cache,
      records,
      pods,
      clock,
      workers: this.workers,
      log: moduleLogger(log, "sync-loop"),
      onFirst: () => this.admission.restore(records.unendedPods().map((pod) => this.resizes.asAllocated(pod))),
      leftovers: () => this.leftovers(),
      onStatics: () => {
        this.staticsKnown = true;
        events.emit("staticsKnown", undefined);
      },
      onSwept: () => {
        state.settled = true;
        state.allocations.keepOnly((uid) => state.isTakenOn(uid));
        this.resizes.onSourcesSeen();
        events.emit("settled", undefined);
      },
      onOrphan: () => events.emit("orphanFound", undefined),
      share: this.share,
      isAwaited: (uid) => state.cluster?.waits(uid) === true,
      stamp: () => this.deps.stamp(),
      setOp: (code) => this.deps.setOp(code),
    });
  }

  /** UIDs with a directory or logs on this machine. Those that have a cgroup alone lose it. */
  private async leftovers(): Promise<PodUid[]> {
    const { runtime } = this.deps;
    const [volumes, logs, cgroups] = await Promise.all([
      runtime.volumes.listPods(),
      podsWithLogs(runtime.settings.podLogsDir),
      runtime.cgroups.listPods(),
    ]);
    const found = new Set([...volumes, ...logs]);
    this.orphans.add(cgroups.filter((uid) => !found.has(uid)));
    return [...found];
  }

  private isInRuntime(uid: PodUid): boolean {
    const { sandboxes, containers } = this.deps.state.cache.get(uid);
    return sandboxes.length + containers.length > 0;
  }
}
