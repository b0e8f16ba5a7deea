// Begins, changes and ends the pod workers of the node: one per UID, and one at a time per full name. Invariant: two
// pods with one full name never run together. The second waits for the termination of the first. A pod that comes back
// while it is terminating starts again after its removal. An error of one pod does not keep waiting pods from starting.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { type SteadyTime, earliest, later } from "../../../shared/base/clock/moments.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { forEachIsolated } from "../../../shared/base/turns/for-each-isolated.js";
import { isStaticPod, type Pod, podFullName } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { PodEventStream } from "../../model/pod-events.js";
import type { PodFailure } from "../../model/refusal.js";
import type { TerminationRequest } from "../../model/synced-pod.js";
import { effectiveGraceSeconds } from "../planner/plan-termination.js";
import type { PodIntake } from "./pod-intake.js";
import type { PodTable } from "./pod-table.js";
import type { PodWorkerDeps } from "./pod-worker-port.js";
import { PodWorker } from "./pod-worker.js";

export interface PodWorkersDeps {
  pods: PodTable;
  clock: Clock;
  log: Pick<Logger, "error">;
  /** Creates the collaborators of one worker. */
  workerDeps(uid: PodUid): PodWorkerDeps;
  intake: Pick<PodIntake, "accept" | "allocated" | "earlierEnd" | "redefine">;
  events: Pick<PodEventStream, "emit">;
}

export class PodWorkers {
  /** Waiting pods with a failure: they are failed when their turn comes. */
  private readonly failures = new Map<PodUid, PodFailure>();
  private stopped = false;

  constructor(private readonly deps: PodWorkersDeps) {}

  add(pod: Pod): void {
    const { uid } = pod.metadata;
    const { pods } = this.deps;
    const worker = pods.get(uid);
    if (worker !== undefined && worker.state !== "terminating") {
      worker.setPod(this.accept(pod));
      return;
    }
    // A terminating pod that arrives again with a shorter grace period terminates sooner.
    worker?.shorten(this.deadline(pod));
    if (worker !== undefined || pods.ownerOf(podFullName(pod)) !== undefined) {
      pods.wait(pod);
      return;
    }
    this.start(pod);
  }

  /** Terminates a pod that its source dropped. Without `graceSeconds` its definition decides. */
  remove(uid: PodUid, reason: string, graceSeconds?: number): void {
    this.deps.pods.stopWaiting(uid);
    this.failures.delete(uid);
    const worker = this.deps.pods.get(uid);
    worker?.terminate({ deadline: this.deadline(worker.desired, graceSeconds), reason });
  }

  /**
   * Shortens the termination of the static pod of this name.
   * @returns false: no static pod of this name is being terminated
   */
  shortenStatic(fullName: string, graceSeconds: number): boolean {
    const { pods } = this.deps;
    const uid = pods.ownerOf(fullName);
    const worker = uid === undefined ? undefined : pods.get(uid);
    const pod = worker?.desired;
    if (worker?.state !== "terminating" || pod === undefined || !isStaticPod(pod)) return false;
    worker.shorten(this.deadline(pod, graceSeconds));
    return true;
  }

  /**
   * The API server is deleting the pod: it terminates within the requested grace period, whether it ever ran or not. A
   * later call may only shorten the grace period. `kept`: the deadline of an earlier kubelet process.
   */
  delete(pod: Pod, kept?: SteadyTime): void {
    const { uid } = pod.metadata;
    this.deps.pods.stopWaiting(uid);
    this.failures.delete(uid);
    const own = this.deadline(pod);
    const request = { deadline: earliest(kept ?? own, own), reason: "the API server is deleting the pod" };
    let worker = this.deps.pods.get(uid);
    if (worker?.state === "terminating") {
      worker.shorten(request.deadline);
      this.deps.intake.redefine(pod);
      return;
    }
    const allocated = this.accept(pod);
    if (worker === undefined) {
      worker = this.takeOn(uid, allocated, podFullName(pod));
      const earlier = this.deps.intake.earlierEnd(uid);
      if (earlier?.terminated === true) worker.resumeEnd(earlier.end, true);
    } else worker.setPod(allocated);
    worker.terminate(request);
  }

  /**
   * Ends a pod that its source still wants: its status stays Failed and it never runs again under this UID. Resolves
   * when nothing of it runs; rejects with OperatorError when the kubelet stops before. A pod that is terminated already
   * keeps its verdict; a second call may only shorten the grace.
   */
  async fail(uid: PodUid, failure: PodFailure, { graceSeconds }: { graceSeconds?: number } = {}): Promise<void> {
    this.beginFailure(uid, failure, graceSeconds);
    await this.deps.pods.get(uid)?.whenStopped();
  }

  /** `fail` for a caller that does not wait. */
  beginFailure(uid: PodUid, failure: PodFailure, graceSeconds?: number): void {
    const { pods } = this.deps;
    const worker = pods.get(uid);
    if (worker !== undefined) {
      worker.fail({ cause: "failed", failure, deadline: this.deadline(worker.desired, graceSeconds) });
    } else if (pods.has(uid)) this.failures.set(uid, failure);
  }

  /** Resolves when no container of the pod runs and its volumes are unmounted; rejects as `fail` does. */
  async whenOver(uid: PodUid): Promise<void> {
    await this.deps.pods.get(uid)?.whenOver();
  }

  /**
   * Takes over a pod that no source wants: known to the runtime, or left on disk. `fullName` is its name as far as
   * known without a definition.
   */
  adoptOrphan(uid: PodUid, pod: Pod | undefined, request: TerminationRequest, fullName?: string): void {
    if (this.deps.pods.get(uid) !== undefined) return;
    this.takeOn(uid, pod, pod === undefined ? fullName : podFullName(pod)).terminate(request);
  }

  /** Called when a worker has terminated its pod. */
  terminated(uid: PodUid): void {
    const { pods, events, log } = this.deps;
    pods.remove(uid);
    events.emit("removed", { uid });
    if (this.stopped) return;
    const failed = (error: unknown, { metadata }: Pod): void =>
      log.error({ uid: metadata.uid, err: error }, `cannot handle pod ${metadata.uid}: ${messageOf(error)}`);
    const start = (pod: Pod): void => {
      if (pods.ownerOf(podFullName(pod)) !== undefined || pods.get(pod.metadata.uid) !== undefined) return;
      pods.stopWaiting(pod.metadata.uid);
      if (pod.metadata.uid === uid) events.emit("restarted", { pod });
      this.start(pod);
    };
    forEachIsolated([...pods.waiting], start, failed);
  }

  /** The runtime is back: workers whose pass failed meanwhile retry at once. */
  pokeAll(): void {
    for (const worker of this.deps.pods.all()) worker.pokeNow();
  }

  /** Stops the workers; their pods keep running. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all([...this.deps.pods.all()].map((worker) => worker.stop()));
  }

  private start(pod: Pod): void {
    const { uid } = pod.metadata;
    const worker = this.takeOn(uid, this.accept(pod), podFullName(pod));
    const earlier = this.deps.intake.earlierEnd(uid);
    if (earlier !== undefined) worker.resumeEnd(earlier.end, earlier.terminated);
    const failure = this.failures.get(uid);
    this.failures.delete(uid);
    if (failure !== undefined) worker.fail({ cause: "failed", failure, deadline: this.deadline(pod) });
    worker.requestPass();
  }

  private takeOn(uid: PodUid, pod: Pod | undefined, fullName: string | undefined): PodWorker {
    const worker = new PodWorker(uid, pod, this.deps.workerDeps(uid));
    this.deps.pods.add(worker, fullName);
    return worker;
  }

  /** @returns the pod with the resources that it may use */
  private accept(pod: Pod): Pod {
    const { intake, pods } = this.deps;
    intake.accept(pod, pods.get(pod.metadata.uid)?.state);
    return intake.allocated(pod);
  }

  private deadline(pod: Pod | undefined, graceSeconds?: number): SteadyTime {
    return later(this.deps.clock.steady(), effectiveGraceSeconds(pod, graceSeconds) * 1000);
  }
}
