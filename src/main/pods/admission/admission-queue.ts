// Admits pods one after the other, in the order in which they arrived. While one waits for a device plugin or for
// preempted pods, the next ones pass (docs/adr/0109-admission-beside-a-wait.md).
// Invariant: pods that an earlier kubelet process admitted come before new pods; a pod is admitted once until it is
// forgotten; a pod whose caller aborts while it waits, or that is forgotten meanwhile, is not admitted.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import { Scope } from "../../../shared/base/abort/scope.js";
import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { AdmissionTurns, type AdmissionTurn } from "./admission-turns.js";
import type { Admission } from "./node-admission.js";
import type { AdmissionVerdict, ResizeRefusal } from "./verdict.js";

interface Running {
  own: Scope;
  verdict: Promise<AdmissionVerdict>;
}

export class AdmissionQueue {
  private readonly turns = new AdmissionTurns();
  /** Admissions that were requested before their pods' workers needed them. */
  private readonly ahead = new Map<PodUid, Promise<AdmissionVerdict>>();
  /** Admissions without a verdict. */
  private readonly running = new Map<PodUid, Running>();
  private readonly lifetime = new Lifetime();

  constructor(private readonly admission: Admission) {}

  /**
   * Restores pods that a previous kubelet admitted: they may run although no source has delivered them yet. Call before
   * the first admit.
   */
  restore(pods: readonly Pod[]): void {
    for (const pod of pods) {
      const verdict = this.enqueue(pod, this.lifetime.signal);
      // The caller of admit() handles the failure; without a caller the rejection is ignored.
      verdict.catch(() => undefined);
      this.ahead.set(pod.metadata.uid, verdict);
    }
  }

  /** Rejects with the signal's reason as soon as that aborts, or with the error of admission: the caller may retry. */
  async admit(pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict> {
    const { uid } = pod.metadata;
    const asked = this.ahead.get(uid);
    this.ahead.delete(uid);
    return await unlessAborted(asked ?? this.enqueue(pod, signal), signal);
  }

  /** In its turn among those who want to be admitted. Rejects when the kubelet stops. */
  async resize(pod: Pod): Promise<ResizeRefusal | undefined> {
    const { signal } = this.lifetime;
    const turn = this.turns.run(async () => {
      signal.throwIfAborted();
      return await this.admission.resize?.(pod, signal);
    });
    return await unlessAborted(turn, signal);
  }

  updated(pod: Pod): void {
    this.admission.updated?.(pod);
  }

  /** The pod's resources are released; if it comes back, it is admitted again. */
  forget(uid: PodUid): void {
    this.ahead.delete(uid);
    this.running.get(uid)?.own.abort(new Error("the pod is no longer on this node"));
    this.admission.release?.(uid);
  }

  stop(): void {
    this.lifetime.end();
  }

  private enqueue(pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict> {
    const earlier = this.running.get(pod.metadata.uid);
    if (earlier === undefined) return this.startAdmission(pod, signal);
    // One that was given up still gives back what it held.
    return Promise.allSettled([earlier.verdict]).then(() => this.startAdmission(pod, signal));
  }

  private startAdmission(pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict> {
    const { uid } = pod.metadata;
    const own = new Scope(signal);
    const verdict = this.turns
      .run((turn) => {
        own.signal.throwIfAborted();
        return this.decide(pod, own.signal, turn);
      })
      .finally(() => {
        own.dispose();
        if (this.running.get(uid)?.own === own) this.running.delete(uid);
      });
    this.running.set(uid, { own, verdict });
    return verdict;
  }

  private async decide(pod: Pod, signal: AbortSignal, turn: AdmissionTurn): Promise<AdmissionVerdict> {
    const verdict = await this.admission.admit(pod, signal, turn);
    // No caller receives this result, so no caller would release the resources. After a restart the pod keeps its
    // resources.
    if (signal.aborted && !this.lifetime.hasEnded) this.admission.release?.(pod.metadata.uid);
    return verdict;
  }
}
