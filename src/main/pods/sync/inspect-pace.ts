// Requests for inspections of a pod, at a pace that fits its number of containers. One pass may start ten thousand of
// them, and an inspection after each would read all of them each time.
// Invariant: each request reaches the pleg thread, merged with others of its pod: at once while the pod has few
// containers or a pass waits for it, and within the gap of its size otherwise.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { InspectHint, InspectRequest } from "../../../shared/contracts/pleg.js";
import { inspectionGapMs } from "../../../shared/kubernetes/cri/inspection-gap.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";

interface Paced {
  generation: number;
  /** Not yet sent; each once. */
  hints: Map<string, InspectHint>;
  /** Hints since a pass waited last: containers that no observation has shown yet. */
  changes: number;
  sentAt: number;
  timer: Timer | undefined;
}

export class InspectPace {
  private readonly pods = new Map<PodUid, Paced>();

  constructor(
    private readonly clock: Clock,
    private readonly send: (request: InspectRequest) => void,
  ) {}

  /** `known`: containers of the pod's last observation. */
  request(uid: PodUid, generation: number, hints: readonly InspectHint[], known: number): void {
    const paced = this.of(uid);
    paced.generation = generation;
    paced.changes += hints.length;
    for (const hint of hints) paced.hints.set(`${hint.kind} ${hint.id}`, hint);
    const waitMs = paced.sentAt + inspectionGapMs(known + paced.changes) - this.clock.monotonic();
    if (waitMs <= 0) this.sendNow(uid, paced);
    else paced.timer ??= this.clock.after(waitMs, () => this.sendNow(uid, paced)).unref();
  }

  /** A pass waits for the pod: what waits is sent. */
  sendWaiting(uid: PodUid): void {
    const paced = this.pods.get(uid);
    if (paced === undefined) return;
    if (paced.timer !== undefined) this.sendNow(uid, paced);
    paced.changes = 0;
  }

  forget(uid: PodUid): void {
    this.pods.get(uid)?.timer?.cancel();
    this.pods.delete(uid);
  }

  private of(uid: PodUid): Paced {
    let paced = this.pods.get(uid);
    if (paced === undefined) {
      paced = { generation: 0, hints: new Map(), changes: 0, sentAt: -Infinity, timer: undefined };
      this.pods.set(uid, paced);
    }
    return paced;
  }

  private sendNow(uid: PodUid, paced: Paced): void {
    paced.timer?.cancel();
    paced.timer = undefined;
    paced.sentAt = this.clock.monotonic();
    const hints = [...paced.hints.values()];
    paced.hints.clear();
    this.send({ uid, generation: paced.generation, hints });
  }
}
