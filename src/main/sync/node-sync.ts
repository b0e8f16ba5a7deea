// Joins the parts of the sync path on the main thread: cache, workers, loop, records and statuses.
import { join } from "node:path";
import type { Pod } from "../../shared/api/pod.js";
import type { WatchedPod } from "../../shared/contracts/pleg.js";
import { messageOf } from "../../shared/errors/thrown.js";
import { moduleLogger } from "../../shared/log/logger.js";
import { forEachIsolated } from "../../shared/turns/for-each-isolated.js";
import { LoopShare } from "../../shared/turns/loop-share.js";
import { podsWithLogs } from "../collection/pods-with-logs.js";
import { AdmissionQueue } from "../admission/admission-queue.js";
import { Resizes } from "../admission/resizes.js";
import { type ClusterPods, type NodeSyncDeps, type SyncComponents } from "./sync-components.js";
import { podWorkerDeps } from "./pod-worker-deps.js";
import { Allocations } from "../resources/allocation/allocations.js";
import { knownRuntimeHandler } from "../runtime/runtime-handlers.js";
import { OrphanCgroups } from "../resources/cgroups/orphan-cgroups.js";
import { qosClass } from "../resources/qos.js";
import { isFinalPhase } from "../model/phase.js";
import { isEnding } from "../model/synced-pod.js";
import type { PodStatus } from "../../shared/api/pod-status.js";
import { PodStatuses } from "../status/pod-statuses.js";
import { TerminationReader } from "../status/termination-reader.js";
import { podsUsingNode } from "./pods-using-node.js";
import { PlanEvents } from "../planner/plan-events.js";
import { PodCgroupWatches } from "./pod-cgroup-watches.js";
import { PodCache } from "./pod-cache.js";
import { PodEventStream, type PodSubscriber, type PodSubscriberName } from "../model/pod-events.js";
import { PassReports } from "./pass-reports.js";
import { PodIntake } from "./pod-intake.js";
import { ownSubscribers } from "./own-subscribers.js";
import { PodRecords } from "./pod-records.js";
import { PodWorkers } from "./pod-workers.js";
import { ShownPods } from "./shown-pods.js";
import { SyncLoop } from "./sync-loop.js";

export class NodeSync implements SyncComponents {
  readonly events: PodEventStream;
  readonly cache: PodCache;
  readonly workers: PodWorkers;
  readonly loop: SyncLoop;
  readonly statuses: PodStatuses;
  readonly records: PodRecords;
  readonly admission: AdmissionQueue;
  readonly resizes: Resizes;
  readonly allocations: Allocations;
  readonly cgroupWatches: PodCgroupWatches;
  readonly planEvents: PlanEvents;
  readonly share: LoopShare;
  private readonly orphans: OrphanCgroups;
  private readonly shown: ShownPods;
  cluster: ClusterPods | undefined;
  private staticsKnown = false;

  constructor(readonly deps: NodeSyncDeps) {
    const { runtime, clock, log } = deps;
    this.events = new PodEventStream(moduleLogger(log, "pod-events"));
    this.planEvents = new PlanEvents(runtime.events);
    this.share = new LoopShare(clock);
    this.admission = new AdmissionQueue(deps.admission);
    this.cgroupWatches = new PodCgroupWatches({
      pleg: deps.pleg,
      cgroups: runtime.cgroups,
      isTerminating: (uid) => isEnding(this.workers.get(uid)?.state),
    });
    const { rootDir } = runtime.settings;
    this.allocations = new Allocations(rootDir, clock, moduleLogger(log, "allocations"));
    this.resizes = new Resizes({
      allocations: this.allocations,
      clock,
      log: moduleLogger(log, "resizes"),
      events: runtime.events,
      ...deps.resize,
      admission: this.admission,
      podEvents: this.events,
    });
    this.records = new PodRecords(join(rootDir, "nodelet", "pods"), clock, moduleLogger(log, "pod-records"));
    this.cache = new PodCache(clock, deps.pleg);
    this.shown = new ShownPods({
      worker: (uid) => this.workers.get(uid),
      heldPod: (uid) => this.cluster?.heldPods.get(uid),
      clock,
    });
    this.statuses = new PodStatuses({
      clock,
      log: moduleLogger(log, "pod-statuses"),
      nodeIPs: () => runtime.node.nodeIPs,
      runtimeName: () => this.cache.runtime?.name ?? "",
      qosClass,
      terminations: new TerminationReader(
        { rootDir, podLogsDir: runtime.settings.podLogsDir },
        deps.calls,
        log,
        (uid) => this.statuses.onMessageRead(uid),
      ),
      probes: deps.probes.results,
      resize: (uid) => this.resizes.shown(uid),
      gates: deps.gates,
      podLevelResources: deps.resize.rules.podLevel,
      stopSignals: runtime.settings.containerStopSignals,
      imageVolumeDigests: runtime.settings.imageVolumeWithDigest,
      recursiveReadOnly: (pod) => {
        const handler = knownRuntimeHandler(runtime, pod);
        const handlers = this.cache.runtime?.details?.handlers ?? [];
        return handlers.some(({ name, recursiveReadOnlyMounts }) => name === handler && recursiveReadOnlyMounts);
      },
      volumesSetUp: (pod) => runtime.volumes.areSetUp(pod),
      changesOnRestart: runtime.settings.changeContainerStatusOnKubeletRestart,
      ...(deps.resourceHealth !== undefined && { resourceHealth: deps.resourceHealth }),
      apiStatus: (uid) => this.cluster?.statusOf(uid),
      publish: (delta) => deps.publish(this.shown.delta(delta)),
      events: this.events,
    });
    runtime.volumes.onSetUp((uid) => this.statuses.onVolumesSetUp(uid));
    const { events, records, resizes, allocations, admission, statuses, cache, cgroupWatches, planEvents } = this;
    const intake = new PodIntake({
      runtime,
      events,
      records,
      resizes,
      allocations,
      admission,
      statuses,
      cache,
      cgroupWatches,
      clock,
      log,
      apiStatus: (uid) => this.cluster?.statusOf(uid),
    });
    const reports = new PassReports({ events, records, resizes, statuses, planEvents, cgroupWatches });
    this.workers = new PodWorkers({
      clock,
      log: moduleLogger(log, "pod-worker"),
      workerDeps: podWorkerDeps(this, reports),
      intake,
      events,
    });
    this.orphans = new OrphanCgroups({
      cgroups: runtime.cgroups,
      isKnown: (uid) => this.workers.has(uid) || this.records.get(uid) !== undefined || this.isInRuntime(uid),
      log: moduleLogger(log, "cgroups"),
    });
    this.loop = new SyncLoop({
      cache: this.cache,
      workers: this.workers,
      records: this.records,
      clock,
      log: moduleLogger(log, "sync-loop"),
      onFirst: () => this.admission.restore(this.records.admittedPods().map((pod) => this.resizes.asAllocated(pod))),
      leftovers: async () => {
        const { podLogsDir } = runtime.settings;
        const [volumes, logs, cgroups] = await Promise.all([
          runtime.volumes.listPods(),
          podsWithLogs(podLogsDir),
          runtime.cgroups.listPods(),
        ]);
        const found = new Set([...volumes, ...logs]);
        this.orphans.add(cgroups.filter((uid) => !found.has(uid)));
        return [...found];
      },
      onStatics: () => {
        this.staticsKnown = true;
        this.events.emit("staticsKnown", undefined);
      },
      onSwept: () => {
        this.allocations.keepOnly((uid) => this.workers.has(uid) || this.records.get(uid) !== undefined);
        this.resizes.onSourcesSeen();
      },
      onOrphan: () => this.events.emit("orphanFound", undefined),
      share: this.share,
      isAwaited: (uid) => this.cluster?.waits(uid) === true,
      stamp: () => deps.stamp(),
      setOp: (code) => deps.setOp(code),
    });
    for (const [name, subscriber] of [...Object.entries(ownSubscribers(this)), ...Object.entries(deps.subscribers)]) {
      this.events.subscribe(name as PodSubscriberName, subscriber);
    }
  }

  /** Reads the state of an earlier kubelet; must complete before anything is dispatched. */
  async load(): Promise<void> {
    await Promise.all([this.records.load(), this.allocations.load()]);
    this.allocations.keepActuated(new Set(this.records.uids()));
    this.resizes.start();
  }

  /** Connects the cluster side, and replays the earlier events: these concern static pods only. */
  join(cluster: ClusterPods): void {
    this.cluster = cluster;
    const { accepted, statusComputed, staticsKnown } = cluster.subscriber;
    const failed = (error: unknown, { metadata: { uid } }: Pod): void =>
      this.deps.log.error({ uid, err: error }, `the status manager cannot handle pod ${uid}: ${messageOf(error)}`);
    const desired = [...this.workers.all()].flatMap((worker) => worker.desired ?? []);
    forEachIsolated(desired, (pod) => accepted?.({ pod, known: true }), failed);
    const republish = (pod: Pod): void => {
      if (pod.status !== undefined) statusComputed?.({ pod, status: pod.status });
    };
    forEachIsolated(this.statuses.all(), republish, failed);
    if (this.staticsKnown) staticsKnown?.(undefined);
    this.events.subscribe("cluster", cluster.subscriber);
  }

  /** All pods as the servers' threads show them. */
  shownPods(): Pod[] {
    const held = [...(this.cluster?.heldPods.all() ?? [])];
    return [...this.statuses.all().map((pod) => this.shown.shown(pod)), ...held];
  }

  /** A pod that the API holds back is shown in another form, or no longer. */
  onHeldPod(uid: string): void {
    if (this.statuses.get(uid) !== undefined) return;
    this.deps.publish(this.shown.delta({ set: [], removed: [uid] }));
  }

  /** Adds a late subscriber: first it receives the pods that run already, as admitted pods. */
  subscribe(name: PodSubscriberName, subscriber: PodSubscriber): void {
    forEachIsolated(
      podsUsingNode(this.workers.all()),
      (pod) => subscriber.admitted?.({ pod }),
      (error, { metadata: { uid } }) =>
        this.deps.log.error({ uid, err: error }, `${name} cannot handle pod ${uid}: ${messageOf(error)}`),
    );
    this.events.subscribe(name, subscriber);
  }

  /** Another client changed the pod's status in the API: a readiness gate, or its phase. */
  onApiStatus(uid: string, status: PodStatus): void {
    const pod = this.statuses.get(uid);
    if (pod === undefined) return;
    if (!isFinalPhase(status.phase)) this.statuses.refresh(uid);
    else if (!isFinalPhase(pod.status?.phase)) this.endByVerdict(uid, status);
    else this.settleRecord(uid, status);
  }

  /** A terminal pod needs no record once the API server has its phase. */
  settleRecord(uid: string, api: PodStatus | undefined): void {
    if (isFinalPhase(api?.phase) && this.endedStatus(uid, api) !== undefined) this.records.settle(uid);
  }

  private endByVerdict(uid: string, { phase, reason = "", message = "" }: PodStatus): void {
    this.deps.log.info({ uid, phase, reason }, `pod ${uid} was marked ${phase} in the API; stopping its containers`);
    this.workers.fail(uid, { reason, message }).catch((error: unknown) => {
      this.deps.log.debug({ uid, err: error }, "the kubelet stops before the pod has terminated");
    });
  }

  /**
   * The last status of a pod whose volumes are released and of which nothing runs or will run again. undefined: its
   * definition is still needed. `api`: its status in the API. A final phase there counts only for a pod that this kubelet
   * does not know, because another client may have written it while the pod runs.
   */
  endedStatus(uid: string, api: PodStatus | undefined): PodStatus | undefined {
    const worker = this.workers.get(uid);
    if (worker !== undefined) return worker.state === "finished" ? this.statuses.get(uid)?.status : undefined;
    const record = this.records.get(uid);
    const mayRun = this.workers.has(uid) || (record !== undefined && record.finalStatus === undefined);
    return isFinalPhase(api?.phase) && !mayRun ? api : undefined;
  }

  /** The pod has a worker, or an earlier kubelet admitted it. */
  isTakenOn(uid: string): boolean {
    return this.workers.has(uid) || this.records.get(uid) !== undefined;
  }

  /** A probe result of the pod changed. */
  onProbeResult(uid: string): void {
    // Shown at once: the worker may be busy for long, with a pull or a stop.
    this.statuses.refresh(uid);
    this.workers.get(uid)?.poke();
  }

  /** Admitted pods with running or startable containers, with their allocated resources. */
  activePods(): Pod[] {
    return [...this.workers.all()].flatMap(({ desired, state }) =>
      desired !== undefined && (state === "syncing" || state === "ending") ? [desired] : [],
    );
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
    await this.records.flush();
  }

  private isInRuntime(uid: string): boolean {
    const { sandboxes, containers } = this.cache.get(uid);
    return sandboxes.length + containers.length > 0;
  }
}
