// Joins the parts of the sync path on the main thread: cache, workers, loop, records and statuses.
import { join } from "node:path";
import type { Pod } from "../../shared/api/pod.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { WatchedPod } from "../../shared/contracts/pleg.js";
import { messageOf } from "../../shared/errors/thrown.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import { forEachIsolated } from "../../shared/turns/for-each-isolated.js";
import { podsWithLogs } from "../collection/log-directories.js";
import { AdmissionQueue } from "../admission/admission-queue.js";
import type { Admission, AdmissionVerdict } from "../admission/verdict.js";
import type { ClusterPods } from "./cluster-pods.js";
import type { ProbePort } from "../model/probe-port.js";
import { Allocations } from "../resources/allocation/allocations.js";
import { Resizes, type ResizesDeps } from "../resources/allocation/resizes.js";
import { OrphanCgroups } from "../resources/cgroups/orphan-cgroups.js";
import { qosClass } from "../resources/qos.js";
import { Doer } from "../runtime/doer.js";
import type { NodeRuntime } from "../runtime/node-runtime.js";
import { outgrown } from "../runtime/update-container.js";
import { isFinalPhase } from "../model/phase.js";
import type { PodStatus, ResourceStatus } from "../../shared/api/pod-status.js";
import { PodStatuses } from "../status/pod-statuses.js";
import type { VolumeCalls } from "../../shared/volume-calls/volume-calls.js";
import { TerminationReader } from "../status/termination-reader.js";
import { PodSandboxState } from "../../shared/cri/gen/runtime.v1.js";
import type { BackoffOptions } from "../planner/crash-backoff.js";
import { earlierEnd } from "./earlier-end.js";
import { PlanEvents } from "../planner/plan-events.js";
import { PodCgroupWatches } from "./pod-cgroup-watches.js";
import { PodCache } from "./pod-cache.js";
import { PodEventStream, type PodSubscriber, type PodSubscriberName } from "./pod-events.js";
import { PodRecords } from "./pod-records.js";
import { isEnding, type PodWorkerEvents, type SyncedPod } from "./pod-worker-port.js";
import { PodWorkers } from "./pod-workers.js";
import { podsUsingNode } from "./pods-using-node.js";
import type { RestartGates } from "../model/restart.js";
import { statusOfPass } from "./status-of-pass.js";
import { SyncLoop } from "./sync-loop.js";
import type { PlegPort } from "../model/pleg-port.js";
import type { PodDelta } from "../model/pod-delta.js";

export interface NodeSyncDeps {
  runtime: NodeRuntime;
  pleg: PlegPort;
  probes: ProbePort;
  admission: Admission;
  /** On files of volumes. */
  calls: Pick<VolumeCalls, "call">;
  clock: Clock;
  log: Logger;
  gates: RestartGates;
  /** Absent: containers' statuses do not say. */
  resourceHealth?: (podUid: string, container: string) => ResourceStatus[];
  backoff: Partial<BackoffOptions>;
  publish(delta: PodDelta): void;
  /** From the start on; others join by `subscribe`. */
  subscribers: Partial<Record<PodSubscriberName, PodSubscriber>>;
  resize?: Pick<ResizesDeps, "counters" | "rules">;
  /** The loop is alive. */
  stamp(): void;
  setOp?(code: number): void;
}

export class NodeSync {
  readonly events: PodEventStream;
  readonly cache: PodCache;
  readonly workers: PodWorkers;
  readonly loop: SyncLoop;
  readonly statuses: PodStatuses;
  readonly records: PodRecords;
  readonly admission: AdmissionQueue;
  readonly resizes: Resizes;
  private readonly allocations: Allocations;
  private readonly cgroupWatches: PodCgroupWatches;
  private readonly planEvents: PlanEvents;
  private readonly orphans: OrphanCgroups;
  private cluster: ClusterPods | undefined;
  private staticsKnown = false;

  constructor(private readonly deps: NodeSyncDeps) {
    const { runtime, clock, log } = deps;
    this.events = new PodEventStream(moduleLogger(log, "pod-events"));
    this.planEvents = new PlanEvents(runtime.events);
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
      ...(deps.resize ?? {}),
      ask: (pod) => this.admission.resize(pod),
      onAllocated: (pod) => {
        this.workers.get(pod.metadata.uid)?.setPod(pod);
        runtime.volumes.podChanged(pod);
        this.events.emit("resized", { pod });
      },
      onShown: (uid) => this.statuses.refresh(uid),
    });
    this.records = new PodRecords(join(rootDir, "nodelet", "pods"), clock, moduleLogger(log, "pod-records"));
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
      terminations: new TerminationReader(
        { rootDir, podLogsDir: runtime.settings.podLogsDir },
        deps.calls,
        log,
        (uid) => this.statuses.onMessageRead(uid),
      ),
      probes: deps.probes.results,
      resize: (uid) => this.resizes.shown(uid),
      gates: deps.gates,
      stopSignals: runtime.settings.containerStopSignals,
      ...(deps.resourceHealth !== undefined && { resourceHealth: deps.resourceHealth }),
      apiStatus: (uid) => this.cluster?.statusOf(uid),
      onStatus: (pod, status) => this.events.emit("statusComputed", { pod, status }),
      publish: (delta) => deps.publish(delta),
      onChange: (pod, status) => this.events.emit("statusChanged", { pod, status }),
      onRunning: (pod) => this.events.emit("started", { pod }),
      onFinal: (pod, status) => this.records.ended(pod.metadata.uid, status),
    });
    const events = this.workerEvents();
    const workerLog = moduleLogger(log, "pod-worker");
    this.workers = new PodWorkers({
      clock,
      log: workerLog,
      workerDeps: (uid) => ({
        cache: this.cache,
        probes: deps.probes.results,
        doer: new Doer(
          runtime,
          uid,
          (pod, watchDirs) => this.cgroupWatches.set(pod, watchDirs),
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
      onGone: (uid) => this.events.emit("removed", { uid }),
      onAgain: (pod) => this.events.emit("restarted", { pod }),
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
      onSwept: () => this.allocations.keepOnly((uid) => this.workers.has(uid) || this.records.get(uid) !== undefined),
      onOrphan: () => this.events.emit("orphanFound", undefined),
      stamp: () => deps.stamp(),
      setOp: (code) => deps.setOp?.(code),
    });
    this.subscribeAll();
  }

  /** Reads what an earlier agent left; must end before anything is routed. */
  async load(): Promise<void> {
    await Promise.all([this.records.load(), this.allocations.load()]);
    this.allocations.keepActuated(new Set(this.records.uids()));
    this.resizes.start();
  }

  /** The API server's side joins; it hears of all that happened before, which was of static pods only. */
  join(cluster: ClusterPods): void {
    this.cluster = cluster;
    const { accepted, statusComputed, staticsKnown } = cluster.subscriber;
    const failed = (error: unknown, { metadata: { uid } }: Pod): void =>
      this.deps.log.error({ uid, err: error }, `the status manager cannot handle pod ${uid}: ${messageOf(error)}`);
    const desired = [...this.workers.all()].flatMap((worker) => worker.desired ?? []);
    forEachIsolated(desired, (pod) => accepted?.({ pod, known: true }), failed);
    const tell = (pod: Pod): void => {
      if (pod.status !== undefined) statusComputed?.({ pod, status: pod.status });
    };
    forEachIsolated(this.statuses.all(), tell, failed);
    if (this.staticsKnown) staticsKnown?.(undefined);
    this.events.subscribe("cluster", cluster.subscriber);
  }

  /** Joins late: hears first of the pods that use the node already, as of admitted ones. */
  subscribe(name: PodSubscriberName, subscriber: PodSubscriber): void {
    forEachIsolated(
      podsUsingNode(this.workers.all()),
      (pod) => subscriber.admitted?.({ pod }),
      (error, { metadata: { uid } }) =>
        this.deps.log.error({ uid, err: error }, `${name} cannot handle pod ${uid}: ${messageOf(error)}`),
    );
    this.events.subscribe(name, subscriber);
  }

  /** Somebody else changed the pod's status in the API: a readiness gate, or its verdict. */
  onApiStatus(uid: string, status: PodStatus): void {
    const pod = this.statuses.get(uid);
    if (pod === undefined) return;
    if (!isFinalPhase(status.phase)) this.statuses.refresh(uid);
    else if (!isFinalPhase(pod.status?.phase)) this.endByVerdict(uid, status);
  }

  private endByVerdict(uid: string, { phase, reason = "", message = "" }: PodStatus): void {
    this.deps.log.info({ uid, phase, reason }, `pod ${uid} was marked ${phase} in the API; stopping its containers`);
    this.workers.fail(uid, { reason, message }).catch((error: unknown) => {
      this.deps.log.debug({ uid, err: error }, "the kubelet stops before the pod has terminated");
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

  /** Every watch of a pod's cgroup, for a pleg thread that has just started. */
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

  /** What the sync path's own parts do on each event. Their order, and that of others, is in pod-events.ts. */
  private subscribeAll(): void {
    const { runtime, probes, subscribers } = this.deps;
    const own: Partial<Record<PodSubscriberName, PodSubscriber>> = {
      pleg: { removed: ({ uid }) => this.cgroupWatches.removed(uid) },
      objects: { removed: ({ uid }) => runtime.cluster?.()?.podGone(uid) },
      cache: { removed: ({ uid }) => this.cache.forget(uid) },
      records: {
        admitted: ({ pod }) => this.records.admitted(pod.metadata.uid),
        removed: ({ uid }) => this.records.forget(uid),
      },
      statuses: { removed: ({ uid }) => this.statuses.forget(uid) },
      "plan-events": { removed: ({ uid }) => this.planEvents.forget(uid) },
      events: { removed: ({ uid }) => runtime.events.forget?.(uid) },
      admission: {
        terminated: ({ uid }) => this.admission.forget(uid),
        removed: ({ uid }) => this.admission.forget(uid),
      },
      resizes: {
        admitted: ({ pod }) => this.resizes.onAdmitted(pod),
        terminated: ({ uid }) => this.resizes.onOver(uid),
        removed: ({ uid }) => this.resizes.onGone(uid),
      },
      probes: {
        // A container is probed when its postStart hook is over.
        synced: ({ pod, observed, state, inPostStart }) => {
          if (inPostStart === undefined) probes.podSynced(pod, observed, state);
        },
        removed: ({ uid }) => probes.podGone(uid),
      },
    };
    for (const [name, subscriber] of [...Object.entries(own), ...Object.entries(subscribers)]) {
      this.events.subscribe(name as PodSubscriberName, subscriber);
    }
  }

  private workerEvents(): PodWorkerEvents {
    return {
      onSynced: (synced) => this.onSynced(synced),
      onPass: (operation, durationMs) => this.events.emit("passEnded", { operation, durationMs }),
      onEnding: async (uid, { cause, failure, deadline }) => {
        this.cgroupWatches.set(uid, []);
        if (cause === "failed" && failure !== undefined) await this.records.failing(uid, failure, deadline);
      },
      onTerminating: (uid, deadline, reason) => {
        // From here on every exit is one that we asked for and look at ourselves.
        this.cgroupWatches.set(uid, []);
        return this.records.terminating(uid, { deadline, reason });
      },
      onTerminated: (uid) => this.workers.terminated(uid),
      onFinished: (uid) => this.events.emit("cleanedUp", { uid }),
    };
  }

  private async admit(pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict> {
    const verdict = await this.admission.admit(pod, signal);
    if (verdict.admit) this.events.emit("admitted", { pod });
    return verdict;
  }

  private onSynced(synced: SyncedPod): void {
    const { pod, plan, state, ended, end, inPostStart } = synced;
    const { uid } = pod.metadata;
    this.events.emit("synced", synced);
    if (ended) this.events.emit("terminated", { uid });
    else if (state === "syncing") this.resizes.onSynced(pod, plan.resizing === true);
    const failure = end?.failure;
    if (end?.cause === "rejected" && failure !== undefined && ended) {
      this.statuses.reject(pod, failure);
      return;
    }
    this.statuses.update(statusOfPass(synced));
    if (inPostStart === undefined) this.planEvents.tell(pod, plan.events ?? []);
  }

  private onDesired(pod: Pod): void {
    const { uid } = pod.metadata;
    const before = this.records.get(uid);
    const api = this.cluster?.statusOf(uid);
    this.records.accept(pod, new Date(api?.startTime ?? this.deps.clock.now()));
    this.events.emit("accepted", { pod, known: before !== undefined });
    const allocated = this.resizes.onWish(pod);
    this.admission.updated(allocated);
    if (this.workers.get(uid)?.state === "syncing") this.events.emit("updated", { pod: allocated });
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
      this.cgroupWatches.adopt(allocated, sized === allocated ? undefined : sized).catch((error: unknown) => {
        this.deps.log.warn({ uid, err: error }, "cannot check the pod's cgroup");
      });
    }
  }

  private isInRuntime(uid: string): boolean {
    const { sandboxes, containers } = this.cache.get(uid);
    return sandboxes.length + containers.length > 0;
  }
}
