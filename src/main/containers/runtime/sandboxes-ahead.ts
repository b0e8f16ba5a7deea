// A PodSandbox does not wait for the pod's volumes: neither needs the other, and both take long. Without a limit, pods
// with hanging volumes would fill the runtime with unused PodSandboxes, ahead of pods that could run.
// Invariant: at most `limit` pods have or get a PodSandbox while their volumes are being set up. The others wait for a
// place or for their own volumes. A pod whose volumes are set up never waits for a place.

import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";

/** A pod whose volumes are set up waits at most for the RunPodSandbox calls of so many others. */
const SANDBOXES_AHEAD = 12;

interface Waiter {
  uid: PodUid;
  volumes: Promise<unknown>;
  admit: () => void;
}

export class SandboxesAhead {
  /** Until the volumes are set up or have failed. */
  private readonly places = new Map<PodUid, Promise<unknown>>();
  private readonly waiting = new Set<Waiter>();

  constructor(private readonly limit = SANDBOXES_AHEAD) {}

  /**
   * undefined: the PodSandbox may be created now. Otherwise it may when the promise resolves, which rejects as
   * `volumes` do or with the signal's reason. @param volumes settled at the latest when a sync's wait for volumes ends
   */
  enter(uid: PodUid, volumes: Promise<unknown>, signal: AbortSignal): Promise<void> | undefined {
    if (this.places.has(uid) || this.places.size < this.limit) {
      this.take(uid, volumes);
      return undefined;
    }
    return this.wait(uid, volumes, signal);
  }

  private take(uid: PodUid, volumes: Promise<unknown>): void {
    this.places.set(uid, volumes);
    const leave = (): void => {
      // A later attempt of the same pod keeps the place.
      if (this.places.get(uid) !== volumes) return;
      this.places.delete(uid);
      this.admitNext();
    };
    volumes.then(leave, leave);
  }

  private async wait(uid: PodUid, volumes: Promise<unknown>, signal: AbortSignal): Promise<void> {
    let admit = (): void => undefined;
    const admitted = new Promise<void>((resolve) => (admit = resolve));
    const waiter = { uid, volumes, admit };
    this.waiting.add(waiter);
    try {
      await unlessAborted(Promise.race([admitted, volumes]), signal);
    } finally {
      this.waiting.delete(waiter);
    }
  }

  /** In the order of arrival. */
  private admitNext(): void {
    const [next] = this.waiting;
    if (next === undefined || this.places.size >= this.limit) return;
    this.waiting.delete(next);
    this.take(next.uid, next.volumes);
    next.admit();
  }
}
