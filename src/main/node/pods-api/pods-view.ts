// The pods of this node as the pods API shows them, and the watchers of their changes.
// Invariant: a watcher gets every pod that existed when it began, then INITIAL_SYNC_COMPLETE, then each change in
// order; a watcher with a full queue is ended and counted, as upstream. A new pod is an event from its first status on,
// as upstream. A pod is encoded once per change, and only for a reader.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { encode } from "../../../shared/kubernetes/api/protobuf/encode.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { EventType, type WatchPodsEvent } from "../../../shared/kubernetes/plugins/gen/pods.v1alpha1.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

/** Upstream's size of a watcher's queue. */
const QUEUE_LIMIT = 100;

export interface PodsViewDeps {
  /** Pods of the node with their statuses. */
  pods: () => Iterable<Pod>;
  /** An event was dropped: the watcher is too slow and was ended, or the pod cannot be encoded. */
  dropped: () => void;
  log: Pick<Logger, "warn">;
}

/** Takes events while it returns true; after false, `ready` on the watcher resumes it. */
type Send = (event: WatchPodsEvent) => boolean;

interface Kept {
  pod: Pod;
  /**
   * Watchers up to this number wait for the pod's first status; later ones have it in their first list. undefined: it
   * had a status.
   */
  unseenUntil: number | undefined;
  /** undefined: not encoded yet; null: it cannot be. */
  bytes: Uint8Array | null | undefined;
}

export class PodsView {
  private readonly kept = new Map<PodUid, Kept>();
  private readonly watchers = new Set<Watcher>();
  private begun = 0;

  constructor(private readonly deps: PodsViewDeps) {
    for (const pod of deps.pods()) this.changed(pod);
  }

  get watching(): number {
    return this.watchers.size;
  }

  /** The pod is new, or its definition or status changed. */
  changed(pod: Pod): void {
    const { uid } = pod.metadata;
    const before = this.kept.get(uid);
    const unseenUntil = before === undefined ? this.begun : before.unseenUntil;
    const hadStatus = before !== undefined && unseenUntil === undefined;
    const isShown = hadStatus || (pod.status?.phase ?? "") !== "";
    const kept: Kept = { pod, unseenUntil: isShown ? undefined : unseenUntil, bytes: undefined };
    this.kept.set(uid, kept);
    if (isShown)
      this.broadcast(
        () => this.bytesOf(kept),
        ({ number }) => (isUnseen(number, unseenUntil) ? "ADDED" : "MODIFIED"),
      );
  }

  /** The event has name, namespace and UID of the pod only, as upstream's. */
  removed(uid: PodUid): void {
    const kept = this.kept.get(uid);
    if (kept === undefined) return;
    this.kept.delete(uid);
    const { name, namespace } = kept.pod.metadata;
    const bytes = (): Uint8Array => encode("Pod", { metadata: { name, namespace, uid } });
    this.broadcast(bytes, ({ number }) => (isUnseen(number, kept.unseenUntil) ? undefined : "DELETED"));
  }

  /** Encoded, in the order of their UIDs. */
  list(): Uint8Array[] {
    return this.sorted().flatMap((kept) => this.bytesOf(kept) ?? []);
  }

  /** Encoded; undefined: no such pod. */
  get(uid: PodUid): Uint8Array | undefined {
    const kept = this.kept.get(uid);
    return kept === undefined ? undefined : this.bytesOf(kept);
  }

  /**
   * Sends at once what exists. `end` is called when the queue of the watcher is full; it receives no event after that.
   */
  watch(send: Send, end: () => void): Watcher {
    const first: WatchPodsEvent[] = [];
    for (const kept of this.sorted()) {
      const pod = this.bytesOf(kept);
      if (pod === undefined) this.deps.dropped();
      else first.push({ type: EventType.ADDED, pod });
    }
    first.push({ type: EventType.INITIAL_SYNC_COMPLETE, pod: new Uint8Array(0) });
    const watcher = new Watcher(++this.begun, first, send, end);
    this.watchers.add(watcher);
    watcher.ready();
    return watcher;
  }

  unwatch(watcher: Watcher): void {
    this.watchers.delete(watcher);
  }

  /** `bytes` undefined: the pod cannot be encoded. `typeFor` undefined: no event for this watcher. */
  private broadcast(
    bytes: () => Uint8Array | undefined,
    typeFor: (watcher: Watcher) => keyof typeof EventType | undefined,
  ): void {
    if (this.watchers.size === 0) return;
    const pod = bytes();
    for (const watcher of this.watchers) {
      const type = typeFor(watcher);
      if (type === undefined) continue;
      if (pod === undefined) this.deps.dropped();
      else if (!watcher.put({ type: EventType[type], pod })) {
        this.deps.dropped();
        this.watchers.delete(watcher);
        watcher.end();
      }
    }
  }

  private bytesOf(kept: Kept): Uint8Array | undefined {
    if (kept.bytes === undefined) {
      try {
        kept.bytes = encode("Pod", kept.pod);
      } catch (error) {
        kept.bytes = null;
        const { uid } = kept.pod.metadata;
        this.deps.log.warn({ err: error, uid }, `pod ${uid} is left out of the pods API: ${errorText(error)}`);
      }
    }
    return kept.bytes ?? undefined;
  }

  private sorted(): Kept[] {
    return [...this.kept.values()].sort((a, b) => (a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1));
  }
}

function isUnseen(watcher: number, unseenUntil: number | undefined): boolean {
  return unseenUntil !== undefined && watcher <= unseenUntil;
}

/** The queue of one watcher. */
class Watcher {
  private isReady = false;
  private readonly limit: number;

  constructor(
    /** Watchers are numbered in the order in which they begin, from 1. */
    readonly number: number,
    private readonly queue: WatchPodsEvent[],
    private readonly send: Send,
    readonly end: () => void,
  ) {
    this.limit = queue.length + QUEUE_LIMIT;
  }

  /** @returns false if the queue is full */
  put(event: WatchPodsEvent): boolean {
    if (this.queue.length >= this.limit) return false;
    this.queue.push(event);
    this.flush();
    return true;
  }

  /** The client has received the sent pods. */
  ready(): void {
    this.isReady = true;
    this.flush();
  }

  private flush(): void {
    while (this.isReady) {
      const event = this.queue.shift();
      if (event === undefined) return;
      this.isReady = this.send(event);
    }
  }
}
