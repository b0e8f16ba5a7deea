// Timelines of the node's pods, and of the pods that were removed last. Main thread; the server thread requests one at
// a time. Invariant: the stored data is bounded for any pods.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { PodTimeline } from "../../../shared/contracts/timeline.js";
import type { Event } from "../../../shared/kubernetes/api/event.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { INIT_STAGE } from "../../model/pod-start-sli.js";
import { type EndStage, type PodTrace } from "../../model/pod-trace.js";
import { PodLife, endStage } from "./pod-life.js";

/** Timelines of removed pods stay readable: operators often need them only after the removal. */
const KEPT_GONE = 100;

export interface TimelinesDeps {
  clock: Pick<Clock, "now">;
  /** Events about the pod with this UID. */
  events: (uid: PodUid) => Event[];
}

const NONE: ReadonlySet<string> = new Set();

export class Timelines implements PodTrace {
  private readonly lives = new Map<PodUid, { life: PodLife; inits: ReadonlySet<string> }>();
  /** UIDs, the one that ended first at the front. */
  private readonly gone: PodUid[] = [];
  /** Init containers that run, by pod and name. */
  private readonly inits = new Map<PodUid, Map<string, EndStage>>();

  constructor(private readonly deps: TimelinesDeps) {}

  /** A source wants the pod. Later calls only add new init containers. */
  accept(pod: Pod, seenAt: number): void {
    const { uid, name, namespace } = pod.metadata;
    const known = this.lives.get(uid)?.life;
    const life =
      known === undefined || known.goneAt !== undefined ? new PodLife({ namespace, name, uid }, seenAt) : known;
    const index = this.gone.indexOf(uid);
    if (index >= 0) this.gone.splice(index, 1);
    const { initContainers = [] } = pod.spec;
    const inits = initContainers.length === 0 ? NONE : new Set(initContainers.map((container) => container.name));
    this.lives.set(uid, { life, inits });
  }

  startStage(uid: PodUid, stage: string, container?: string): EndStage {
    const life = this.lives.get(uid)?.life;
    if (life === undefined) return () => undefined;
    const entry = life.startStage(stage, container, this.deps.clock.now());
    return (error) => endStage(entry, error, this.deps.clock.now());
  }

  phase(uid: PodUid, phase: string, reason?: string): void {
    this.lives.get(uid)?.life.phase(phase, reason, this.deps.clock.now());
  }

  /** Running ordinary init containers of the pod: their times are separate stages. */
  initRunning(uid: PodUid, names: ReadonlySet<string>): void {
    let open = this.inits.get(uid);
    if ((open === undefined && names.size === 0) || !this.lives.has(uid)) return;
    open ??= new Map<string, EndStage>();
    for (const [name, end] of open) {
      if (names.has(name)) continue;
      end();
      open.delete(name);
    }
    for (const name of names) if (!open.has(name)) open.set(name, this.startStage(uid, INIT_STAGE, name));
    if (open.size === 0) this.inits.delete(uid);
    else this.inits.set(uid, open);
  }

  /** All containers run for the first time. Answers the pod start SLI, milliseconds. */
  running(uid: PodUid): number | undefined {
    const entry = this.lives.get(uid);
    return entry?.life.running(this.deps.clock.now(), entry.inits);
  }

  ended(uid: PodUid): void {
    const entry = this.lives.get(uid);
    if (entry === undefined || entry.life.goneAt !== undefined) return;
    this.initRunning(uid, new Set());
    entry.life.goneAt = this.deps.clock.now();
    this.gone.push(uid);
    if (this.gone.length <= KEPT_GONE) return;
    const oldest = this.gone.shift();
    if (oldest !== undefined) this.lives.delete(oldest);
  }

  /** The newest pod of that name. */
  show(namespace: string, name: string): PodTimeline | undefined {
    const found = [...this.lives.values()].filter(
      ({ life }) => life.identity.name === name && life.identity.namespace === namespace,
    );
    const newest = found.toSorted((a, b) => a.life.seenAt - b.life.seenAt).at(-1);
    if (newest === undefined) return undefined;
    return newest.life.show(this.deps.events(newest.life.identity.uid), newest.inits);
  }
}
