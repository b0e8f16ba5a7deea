// The pods of this node that have a worker or wait for one. Everybody reads it; PodWorkers alone changes it.
// Invariant: a UID has at most one worker, and a full name at most one owner.

import { podFullName, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { PodWorker } from "./pod-worker.js";

export class PodTable {
  private readonly workers = new Map<PodUid, PodWorker>();
  /** The running pod, by its full name. */
  private readonly owners = new Map<string, PodUid>();
  /** Pods that wait for their full name, in order of arrival; and pods that come back under the same UID. */
  private readonly queue: Pod[] = [];

  /** The pod has a worker or waits for one. */
  has(uid: PodUid): boolean {
    return this.workers.has(uid) || this.queue.some((pod) => pod.metadata.uid === uid);
  }

  get(uid: PodUid): PodWorker | undefined {
    return this.workers.get(uid);
  }

  all(): Iterable<PodWorker> {
    return this.workers.values();
  }

  /** The pod that runs under this name. */
  ownerOf(fullName: string): PodUid | undefined {
    return this.owners.get(fullName);
  }

  get waiting(): readonly Pod[] {
    return this.queue;
  }

  /** The pod is terminating, and starts again after that. */
  comesBack(uid: PodUid): boolean {
    return this.workers.has(uid) && this.queue.some((pod) => pod.metadata.uid === uid);
  }

  /** Pods that run or will run: all but terminating pods and pods without a definition. */
  wanted(): Pod[] {
    const running = [...this.workers.values()].flatMap(({ desired, state }) =>
      desired === undefined || state === "terminating" || state === "terminated" ? [] : [desired],
    );
    return [...running, ...this.queue];
  }

  /** Admitted pods with running or startable containers, with their allocated resources. */
  active(): Pod[] {
    return [...this.workers.values()].flatMap(({ desired, state }) =>
      desired !== undefined && (state === "syncing" || state === "ending") ? [desired] : [],
    );
  }

  /** `fullName`: as far as it is known; the first pod of a name owns it. */
  add(worker: PodWorker, fullName: string | undefined): void {
    this.workers.set(worker.uid, worker);
    if (fullName !== undefined && !this.owners.has(fullName)) this.owners.set(fullName, worker.uid);
  }

  /** The worker has removed everything of its pod. */
  remove(uid: PodUid): void {
    const pod = this.workers.get(uid)?.desired;
    this.workers.delete(uid);
    const fullName = pod === undefined ? undefined : podFullName(pod);
    // Where its name is known, those of other pods are not searched.
    if (fullName !== undefined && this.owners.get(fullName) === uid) this.owners.delete(fullName);
    else for (const [name, owner] of this.owners) if (owner === uid) this.owners.delete(name);
  }

  wait(pod: Pod): void {
    this.stopWaiting(pod.metadata.uid);
    this.queue.push(pod);
  }

  stopWaiting(uid: PodUid): void {
    const index = this.queue.findIndex((pod) => pod.metadata.uid === uid);
    if (index >= 0) this.queue.splice(index, 1);
  }
}
