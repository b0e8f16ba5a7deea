// Admits pods one after the other, in the order in which they arrived.
// Invariant: pods that an earlier kubelet process admitted come before new pods; a pod is admitted once until it is forgotten;
// a pod whose caller aborts while it waits is not admitted.
import { unlessAborted } from "../../shared/abort/unless-aborted.js";
import type { Pod } from "../../shared/api/pod.js";
import type { Admission } from "./node-admission.js";
import type { AdmissionVerdict, ResizeRefusal } from "./verdict.js";

export class AdmissionQueue {
  private tail: Promise<unknown> = Promise.resolve();
  /** Admissions that were requested before their pods' workers needed them. */
  private readonly ahead = new Map<string, Promise<AdmissionVerdict>>();
  private readonly stopping = new AbortController();

  constructor(private readonly admission: Admission) {}

  /**
   * Restores pods that a previous kubelet admitted: they may run although no source has delivered them yet. Call before
   * the first admit.
   */
  restore(pods: readonly Pod[]): void {
    for (const pod of pods) {
      const verdict = this.enqueue(pod, this.stopping.signal);
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
    const { signal } = this.stopping;
    const turn = this.next(async () => {
      signal.throwIfAborted();
      return await this.admission.resize?.(pod, signal);
    });
    return await unlessAborted(turn, signal);
  }

  updated(pod: Pod): void {
    this.admission.updated?.(pod);
  }

  /** The pod's resources are released; if it comes back, it is admitted again. */
  forget(uid: string): void {
    this.ahead.delete(uid);
    this.admission.release?.(uid);
  }

  stop(): void {
    this.stopping.abort(new Error("the kubelet is stopping"));
  }

  private enqueue(pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict> {
    return this.next(async () => {
      signal.throwIfAborted();
      const verdict = await this.admission.admit(pod, signal);
      // No caller receives this result, so no caller would release the resources. After a restart the pod keeps its
      // resources.
      if (signal.aborted && !this.stopping.signal.aborted) this.admission.release?.(pod.metadata.uid);
      return verdict;
    });
  }

  private next<T>(ask: () => Promise<T>): Promise<T> {
    const turn = this.tail.then(ask);
    this.tail = turn.catch(() => undefined);
    return turn;
  }
}
