// Joins the parts of the sync path on the main thread: cache, workers, loop, records and statuses.
import { join } from "node:path";
import type { Pod } from "../../shared/api/pod.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { InspectRequest, WatchedPod } from "../../shared/contracts/pleg.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import { podsWithLogs } from "../collection/log-directories.js";
import { AdmissionQueue } from "../admission/admission-queue.js";
import type { Admission, AdmissionVerdict } from "../admission/verdict.js";
import type { ClusterPods } from "./cluster-pods.js";
import type { PodWatch } from "./pod-watch.js";
import type { ProbePort } from "../probes/port.js";
import { Allocations } from "../resources/allocation/allocations.js";
import { Resizes, type ResizesDeps } from "../resources/allocation/resizes.js";
import { OrphanCgroups } from "../resources/cgroups/orphan-cgroups.js";
import { qosClass } from "../resources/qos.js";
import { Doer } from "../runtime/doer.js";
import type { NodeRuntime } from "../runtime/node-runtime.js";
import { outgrown } from "../runtime/update-container.js";
import { isFinalPhase } from "../status/phase.js";
import type { PodStatus, ResourceStatus } from "../../shared/api/pod-status.js";
import { PodStatuses, type PodDelta } from "../status/pod-statuses.js";
import { TerminationReader } from "../status/termination-reader.js";
import { PodSandboxState } from "../../shared/cri/gen/runtime.v1.js";
import type { BackoffOptions } from "./crash-backoff.js";
import { earlierEnd } from "./earlier-end.js";
import { PlanEvents } from "./plan/plan-events.js";
import { PodCache } from "./pod-cache.js";
import { tellRunning, type PodFollower } from "./pod-follower.js";
import { PodRecords } from "./pod-records.js";
import { isEnding, type PodWorkerEvents, type SyncedPod } from "./pod-worker-port.js";
import { PodWorkers } from "./pod-workers.js";
import type { RestartGates } from "./plan/restart.js";
import { SyncLoop } from "./sync-loop.js";

/** The pleg thread as main sees it. */
export interface PlegPort {
  inspect(request: InspectRequest): void;
  watch(pod: WatchedPod): void;
  unwatch(uid: string): void;
}

export interface NodeSyncDeps {
  runtime: NodeRuntime;
  pleg: PlegPort;
  probes: ProbePort;
  admission: Admission;
  clock: Clock;
  log: Logger;
  gates: RestartGates;
  /** Absent: containers' statuses do not say. */
  resourceHealth?: (podUid: string, container: string) => ResourceStatus[];
  backoff: Partial<BackoffOptions>;
  publish(delta: PodDelta): void;
  /** Which pods run, or what they were granted, has changed. */
  podsChanged?(): void;
  watch: PodWatch;
  resize?: Pick<ResizesDeps, "counters" | "rules">;
  /** The loop is alive. */
  stamp(): void;
  setOp?(code: number): void;
}

export class NodeSync {
  readonly cache: PodCache;
  readonly workers: PodWorkers;
  readonly loop: SyncLoop;
  readonly statuses: PodStatuses;
  readonly records: PodRecords;
  readonly admission: AdmissionQueue;
  readonly resizes: Resizes;
  private readonly allocations: Allocations;
  /** Watched cgroup directories per pod: sent again when the pleg thread is restarted. */
  private readonly watched = new Map<string, string[]>();
  private readonly planEvents: PlanEvents;
  private readonly orphans: OrphanCgroups;
  private cluster: ClusterPods | undefined;
  private follower: PodFollower | undefined;
  private staticsKnown = false;

  constructor(private readonly deps: NodeSyncDeps) {
    const { runtime, clock, log } = deps;
    this.planEvents = new PlanEvents(runtime.events);
    this.admission = new AdmissionQueue(deps.admission);
    const { rootDir } = runtime.settings;
    this.allocations = new Allocations(rootDir, clock, moduleLogger(log, "allocations"));
    this.resizes = new Resizes({
      allocations: this.allocations,
      clock,
      log: moduleLogger(log, "resizes"),
      events: runtime.events,
      ...(deps.resize ?? {}),
      ask: (pod) => this.admission.resize(pod),
      onAllocated: (pod) => {
        this.workers.get(pod.metadata.uid)?.setPod(pod);
        runtime.volumes.podChanged(pod);
        deps.podsChanged?.();
        this.follower?.runs(pod);
      },
      onShown: (uid) => this.statuses.refresh(uid),
    });
    this.records = new PodRecords(
      join(runtime.settings.rootDir, "nodelet", "pods"),
      clock,
      moduleLogger(log, "pod-records"),
    );
    this.cache = new PodCache(clock, (request) => deps.pleg.inspect(request), {
      onPod: (uid) => this.loop.onPod(uid),
      onRuntime: (state, before) => this.loop.onRuntime(state, before),
      onRelisted: () => this.loop.onRelisted(),
    });
    this.statuses = new PodStatuses({
      clock,
      log: moduleLogger(log, "pod-statuses"),
      nodeIPs: () => runtime.node.nodeIPs,
      runtimeName: () => this.cache.runtime?.name ?? "",
      qosClass,
      terminations: new TerminationReader(runtime.settings.podLogsDir, log, (uid) => this.statuses.onMessageRead(uid)),
      probes: deps.probes.results,
      resize: (uid) => this.resizes.shown(uid),
      gates: deps.gates,
      stopSignals: runtime.settings.containerStopSignals,
      ...(deps.resourceHealth !== undefined && { resourceHealth: deps.resourceHealth }),
      apiStatus: (uid) => this.cluster?.statusOf(uid),
      onStatus: (pod, status) => this.cluster?.status(pod, status),
      publish: (delta) => deps.publish(delta),
      onChange: (pod, status) => deps.watch.status(pod, status),
      onRunning: (pod) => deps.watch.running(pod),
      onFinal: (pod, status) => this.records.ended(pod.metadata.uid, status),
    });
    const events = this.workerEvents();
    const workerLog = moduleLogger(log, "pod-worker");
    this.workers = new PodWorkers({
      clock,
      workerDeps: (uid) => ({
        cache: this.cache,
        probes: deps.probes.results,
        doer: new Doer(
          runtime,
          uid,
          (pod, watchDirs) => this.onCgroup(pod, watchDirs),
          {
            has: (containerId) => this.records.preStopsDone(uid).includes(containerId),
            add: (containerId) => this.records.preStopDone(uid, containerId),
            saw: (observed) => this.records.preStopsSeen(observed),
          },
          () => this.allocations.actuated(uid),
          () => this.workers.comesBack(uid),
        ),
        recorder: runtime.events,
        admit: (pod, signal) => this.admit(pod, signal),
        resizes: this.resizes,
        isCgroupLost: (pod) => runtime.cgroups.isLost(pod),
        keptEnd: this.records,
        startTime: (pod) => this.records.get(pod)?.startTime,
        runtime: () => this.cache.runtime,
        clock,
        log: workerLog,
        events,
        gates: deps.gates,
        backoff: deps.backoff,
        deadContainersKept: runtime.settings.maximumDeadContainersPerContainer,
      }),
      onDesired: (pod) => this.onDesired(pod),
      asAllocated: (pod) => this.resizes.effective(pod.metadata.uid) ?? pod,
      earlierEnd: (uid) => earlierEnd(this.records.get(uid), this.cluster?.statusOf(uid)?.phase, clock.steady()),
      onGone: (uid) => this.onGone(uid),
      onAgain: (pod) => deps.watch.again(pod),
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
        this.cluster?.staticsKnown();
      },
      onSwept: () => this.allocations.keepOnly((uid) => this.workers.has(uid) || this.records.get(uid) !== undefined),
      onOrphan: () => deps.watch.orphan(),
      stamp: () => deps.stamp(),
      setOp: (code) => deps.setOp?.(code),
    });
  }

  /** Reads what an earlier agent left; must end before anything is routed. */
  async load(): Promise<void> {
    await Promise.all([this.records.load(), this.allocations.load()]);
    this.allocations.keepActuated(new Set(this.records.uids()));
    this.resizes.start();
  }

  /** There is a cluster: it hears of all that happened before, which was of static pods only. */
  join(cluster: ClusterPods): void {
    this.cluster = cluster;
    for (const { desired } of this.workers.all()) if (desired !== undefined) cluster.desired(desired);
    for (const pod of this.statuses.all()) if (pod.status !== undefined) cluster.status(pod, pod.status);
    if (this.staticsKnown) cluster.staticsKnown();
  }

  /** From now on; told first of the pods that run already. */
  follow(follower: PodFollower): void {
    this.follower = follower;
    tellRunning(this.workers.all(), follower);
  }

  /** Somebody else changed the pod's status in the API: a readiness gate, or its verdict. */
  onApiStatus(uid: string, status: PodStatus): void {
    const pod = this.statuses.get(uid);
    if (pod === undefined) return;
    if (!isFinalPhase(status.phase)) this.statuses.refresh(uid);
    else if (!isFinalPhase(pod.status?.phase)) this.endByVerdict(uid, status);
  }

  private endByVerdict(uid: string, { phase, reason = "", message = "" }: PodStatus): void {
    this.deps.log.info({ uid, phase, reason }, `pod ${uid} is ${phase} by another's word: what runs of it is stopped`);
    this.workers.fail(uid, { reason, message }).catch((error: unknown) => {
      this.deps.log.debug({ uid, err: error }, "the agent stops before the pod has ended");
    });
  }

  /** A probe of the pod changed its mind. */
  onProbeResult(uid: string): void {
    // Shown at once: the worker may be busy for long, with a pull or a stop.
    this.statuses.refresh(uid);
    this.workers.get(uid)?.poke();
  }

  /** Pods that were admitted and of which something runs or may start, as allocated. */
  activePods(): Pod[] {
    return [...this.workers.all()].flatMap(({ desired, state }) =>
      desired !== undefined && (state === "syncing" || state === "ending") ? [desired] : [],
    );
  }

  /** Every watch, for a pleg thread that has just started. */
  watches(): WatchedPod[] {
    return [...this.watched].map(([uid, watchDirs]) => ({ uid, watchDirs }));
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

  private workerEvents(): PodWorkerEvents {
    return {
      onSynced: (synced) => this.onSynced(synced),
      onPass: (operation, ms) => this.deps.watch.passed(operation, ms),
      onEnding: async (uid, { cause, failure, deadline }) => {
        this.onCgroup(uid, []);
        if (cause === "failed" && failure !== undefined) await this.records.failing(uid, failure, deadline);
      },
      onTerminating: (uid, deadline, reason) => {
        // From here on every exit is one that we asked for and look at ourselves.
        this.onCgroup(uid, []);
        return this.records.terminating(uid, { deadline, reason });
      },
      onTerminated: (uid) => this.workers.terminated(uid),
      onFinished: (uid) => this.follower?.over(uid),
    };
  }

  private async admit(pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict> {
    const verdict = await this.admission.admit(pod, signal);
    if (verdict.admit) {
      this.records.admitted(pod.metadata.uid);
      // Its worker takes it on from here.
      this.deps.podsChanged?.();
      this.resizes.onAdmitted(pod);
      this.follower?.runs(pod);
    }
    return verdict;
  }

  private onSynced({ pod, observed, plan, failures, state, mayRun, ended, end, inPostStart }: SyncedPod): void {
    // A container is probed when its postStart hook is over.
    if (inPostStart === undefined) this.deps.probes.podSynced(pod, observed, state);
    this.deps.watch.seen(pod, observed);
    if (ended) {
      this.deps.podsChanged?.();
      this.admission.forget(pod.metadata.uid);
      this.resizes.onOver(pod.metadata.uid);
    } else if (state === "syncing") this.resizes.onSynced(pod, plan.resizing === true);
    const failure = end?.failure;
    if (end?.cause === "rejected" && failure !== undefined && ended) {
      this.statuses.reject(pod, failure);
      return;
    }
    const waiting = new Map<string, { reason: string; message: string }>(failures);
    for (const [name, { reason = "", message = "" }] of plan.waiting) waiting.set(name, { reason, message });
    const final = plan.finished || state !== "syncing";
    const { restarting, restartingAll, events = [] } = plan;
    this.statuses.update({
      pod,
      observed,
      waiting,
      final,
      mayRun,
      ended,
      ...(failure !== undefined && end?.cause === "failed" && { failure }),
      ...(inPostStart !== undefined && { inPostStart }),
      ...(restarting !== undefined && { restarting }),
      ...(restartingAll !== undefined && { restartingAll }),
    });
    if (inPostStart === undefined) this.planEvents.tell(pod, events);
  }

  private onDesired(pod: Pod): void {
    const { uid } = pod.metadata;
    const before = this.records.get(uid);
    const api = this.cluster?.statusOf(uid);
    this.records.accept(pod, new Date(api?.startTime ?? this.deps.clock.now()));
    this.deps.watch.accepted(pod, before !== undefined);
    this.cluster?.desired(pod);
    const allocated = this.resizes.onWish(pod);
    this.admission.updated(allocated);
    if (this.workers.get(uid)?.state === "syncing") this.follower?.runs(allocated);
    const record = this.records.get(uid);
    if (record !== undefined) {
      const { startTime } = record;
      // The API server's verdict counts as well as our own, unless it came while the pod ran.
      const foreign = isFinalPhase(api?.phase) && this.workers.get(uid) === undefined ? api : undefined;
      const finalStatus = record.finalStatus ?? foreign;
      // A pod that is over refers to nothing any more.
      if (finalStatus === undefined) {
        this.deps.runtime.cluster?.()?.podWanted(allocated);
        this.deps.runtime.volumes.podChanged(allocated);
      }
      if (finalStatus !== undefined) this.statuses.restore(pod, finalStatus);
      else if (before?.finalStatus !== undefined) this.statuses.acceptAgain(pod, startTime);
      else this.statuses.accept(pod, startTime);
    }
    // Adopted pods have their cgroup already: their exits are to be seen from the first moment. What is deleted is ended.
    const { sandboxes } = this.cache.get(uid);
    const ends = pod.metadata.deletionTimestamp !== undefined;
    if (!ends && sandboxes.some(({ state }) => state === PodSandboxState.SANDBOX_READY)) {
      const sized = outgrown(allocated, this.allocations.actuated(uid));
      this.checkCgroup(allocated, sized === allocated ? undefined : sized).catch((error: unknown) => {
        this.deps.log.warn({ uid, err: error }, "the pod's cgroup could not be checked");
      });
    }
  }

  /** A cgroup that is lost is not made anew beneath a running pod: its worker starts the pod anew. */
  private async checkCgroup(pod: Pod, sized: Pod | undefined): Promise<void> {
    const { cgroups } = this.deps.runtime;
    if (await cgroups.isLost(pod)) return;
    const { watchDirs } = await cgroups.ensurePod(pod, sized);
    const { uid } = pod.metadata;
    // Of a pod whose end began meanwhile nothing is watched.
    if (!isEnding(this.workers.get(uid)?.state)) this.onCgroup(uid, watchDirs);
  }

  private isInRuntime(uid: string): boolean {
    const { sandboxes, containers } = this.cache.get(uid);
    return sandboxes.length + containers.length > 0;
  }

  private onCgroup(uid: string, watchDirs: string[]): void {
    const first = watchDirs.slice(0, 1);
    this.watched.set(uid, first);
    this.deps.pleg.watch({ uid, watchDirs: first });
  }

  private onGone(uid: string): void {
    this.deps.podsChanged?.();
    this.watched.delete(uid);
    this.deps.pleg.unwatch(uid);
    this.deps.runtime.cluster?.()?.podGone(uid);
    this.cache.forget(uid);
    this.records.forget(uid);
    this.statuses.forget(uid);
    this.planEvents.forget(uid);
    this.deps.runtime.events.forget?.(uid);
    this.admission.forget(uid);
    this.resizes.onGone(uid);
    this.deps.probes.podGone(uid);
    this.deps.watch.gone(uid);
    this.follower?.over(uid);
    this.cluster?.gone(uid);
  }
}
