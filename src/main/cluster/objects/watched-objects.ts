// Strategy Watch, the default: one watch for each object that pods refer to. A node may not list other objects.
// Invariant: one watch per object, however many pods refer to it. A watch stops when the object is immutable, or a
// minute after its last reference was removed. It also stops when no volume uses the object and no read came for
// `idleMs`. Reads return the watch's last state, also while the API server is away. Watches and reads are bounded: a
// pod may refer to tens of thousands of objects.

import { Scope } from "../../../shared/base/abort/scope.js";
import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import type { Timer } from "../../../shared/base/clock/clock.js";
import { quote } from "../../../shared/base/text/quote.js";
import { FairTurns, type Turn } from "../../../shared/base/turns/fair-turns.js";
import { ApiError, isForbidden } from "../../../shared/kubernetes/api/client/errors.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { wordOf, type KeptObject, type ObjectManager, type ObjectManagerDeps } from "./object-manager.js";
import { keyOf, ReferenceIndex } from "./reference-index.js";
import { type Reference } from "./references.js";

export interface WatchedObjectsDeps<T extends KeptObject> extends ObjectManagerDeps<T> {
  /** A watch without reads stops after this time (upstream: syncFrequency, at least a minute). */
  idleMs: number;
}

/** The next pod of the namespace often refers to the same objects. */
const LINGER_MS = 60_000;
const SWEEP_MS = 15_000;
/** If a watch has no first list after this time, the object is read by itself. */
const PATIENCE_MS = 250;
/**
 * Time for which a forbidden read is repeated: the server's authorizer sees a pod's binding slightly later than this
 * kubelet.
 */
const READ_MS = 10_000;
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1000;
/**
 * Watches that begin with one pod: most pods refer to a few objects. The others are read when they are needed, and
 * again with each refresh of their volume.
 */
export const WATCHES_OF_POD = 64;
/** All watches; each takes a stream of the API server. Objects beyond it are read, too. */
export const MOST_WATCHES = 4096;
/** Reads at once, of all namespaces and of one. */
const READS = { limit: 32, share: 16 };
/** Watches that end in one turn, and the time until the next turn. */
const ENDS_AT_ONCE = 64;
const ENDS_REST_MS = 50;

interface Item<T> {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** Among the first objects of a pod. */
  mayWatch: boolean;
  object: T | undefined;
  /** Ends the watch; undefined while there is none. */
  end: (() => void) | undefined;
  /** The watch delivered the first state of the object. */
  synced: boolean;
  /** Called when it does. */
  waiting: Set<() => void>;
  /** A read came before that state. */
  missed: boolean;
  usedAt: number;
  unusedSince: number | undefined;
}

export class WatchedObjects<T extends KeptObject> implements ObjectManager<T> {
  private readonly references = new ReferenceIndex();
  private readonly items = new Map<string, Item<T>>();
  private readonly reads = new FairTurns(READS);
  private watches = 0;
  private sweeper: Timer | undefined;
  /** The rest of a sweep. */
  private rest: Timer | undefined;
  private stopped = false;

  constructor(private readonly deps: WatchedObjectsDeps<T>) {}

  async get(namespace: string, name: string, signal: AbortSignal): Promise<T> {
    const { kind, clock } = this.deps;
    signal.throwIfAborted();
    const item = this.items.get(keyOf(namespace, name));
    // No noted reference: the secret of a volume's driver, or one of a pod with thousands of references.
    if (item === undefined) return this.readInTurn(this.newItem(namespace, name), signal);
    item.usedAt = clock.monotonic();
    if (isFrozen(item)) return item.object;
    this.follow(item);
    if (item.end === undefined && !isFrozen(item)) return this.read(item, signal);
    if (!item.synced) await this.firstAnswer(item, PATIENCE_MS, signal);
    if (!item.synced) return this.read(item, signal);
    if (item.object !== undefined) return item.object;
    throw new ApiError(404, "NotFound", `${wordOf(kind)} ${quote(name)} not found`, { name, kind: kind.resource });
  }

  setReferences(uid: PodUid, namespace: string, names: ReadonlyMap<string, Reference>): void {
    if (this.stopped) return;
    const { added, unused } = this.references.set(uid, namespace, names);
    const now = this.deps.clock.monotonic();
    let room = WATCHES_OF_POD - (names.size - added.length);
    for (const key of added) {
      const item = this.items.get(key) ?? this.newItem(namespace, key.slice(namespace.length + 1));
      this.items.set(key, item);
      item.mayWatch ||= room-- > 0;
      item.unusedSince = undefined;
      item.usedAt = now;
      // At once: its content is there by the time that a container needs it.
      if (!isFrozen(item)) this.follow(item);
    }
    for (const key of unused) {
      const item = this.items.get(key);
      if (item === undefined) continue;
      item.unusedSince = now;
      // Without a watch, no event would report that the object was deleted and created with other content.
      if (isFrozen(item)) this.items.delete(key);
    }
    this.sweepWhileNeeded();
  }

  podRemoved(uid: PodUid): void {
    this.setReferences(uid, "", new Map());
  }

  stop(): void {
    this.stopped = true;
    this.sweeper?.cancel();
    this.rest?.cancel();
    for (const item of this.items.values()) this.unfollow(item);
    this.items.clear();
  }

  private newItem(namespace: string, name: string): Item<T> {
    const usedAt = this.deps.clock.monotonic();
    return {
      key: keyOf(namespace, name),
      namespace,
      name,
      mayWatch: false,
      object: undefined,
      end: undefined,
      synced: false,
      waiting: new Set(),
      missed: false,
      usedAt,
      unusedSince: undefined,
    };
  }

  private follow(item: Item<T>): void {
    if (item.end !== undefined || this.stopped || !item.mayWatch || this.watches >= MOST_WATCHES) return;
    const { follow, kind } = this.deps;
    item.synced = false;
    this.watches++;
    item.end = follow<T>({
      kind,
      namespace: item.namespace,
      fieldSelector: `metadata.name=${item.name}`,
      onReplace: (objects) => this.onObject(item, objects[0]),
      onEvent: ({ type, object }) => this.onObject(item, type === "DELETED" ? undefined : object),
    });
    // An immutable object may have come before its watch could be noted.
    if (isFrozen(item)) this.unfollow(item);
  }

  private unfollow(item: Item<T>): void {
    if (item.end === undefined) return;
    item.end();
    item.end = undefined;
    this.watches--;
  }

  private onObject(item: Item<T>, object: T | undefined): void {
    const changed = item.object?.metadata.resourceVersion !== object?.metadata.resourceVersion;
    const first = !item.synced;
    item.object = object;
    item.synced = true;
    if (object?.immutable === true) this.unfollow(item);
    for (const done of [...item.waiting]) done();
    // A pod whose earlier read failed because the object was missing gets the change, too.
    if (changed && (!first || item.missed)) this.deps.onChange(this.references.usersOf(item.key));
    item.missed = false;
  }

  private async firstAnswer(item: Item<T>, ms: number, signal: AbortSignal): Promise<void> {
    let timer: Timer | undefined;
    let done = (): void => undefined;
    const answer = new Promise<void>((resolve) => {
      done = resolve;
      item.waiting.add(done);
      timer = this.deps.clock.after(ms, resolve);
    });
    try {
      await unlessAborted(answer, signal);
    } finally {
      item.waiting.delete(done);
      timer?.cancel();
    }
  }

  /**
   * There is no watch, it does not get through, or it takes its time: the object alone, until a watch has it.
   */
  private async read(item: Item<T>, signal: AbortSignal): Promise<T> {
    const { clock } = this.deps;
    const end = clock.monotonic() + READ_MS;
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)) {
      try {
        const object = await this.readInTurn(item, signal);
        // The first object of the watch may be newer than the one used so far.
        if (!item.synced && item.end !== undefined) {
          item.object = object;
          item.missed = true;
        }
        return object;
      } catch (error) {
        signal.throwIfAborted();
        if (!isForbidden(error) || clock.monotonic() + waitMs > end) {
          item.missed = true;
          throw error;
        }
      }
      await this.firstAnswer(item, waitMs, signal);
      if (item.synced && item.object !== undefined) return item.object;
    }
  }

  private async readInTurn(item: Item<T>, signal: AbortSignal): Promise<T> {
    const { client, kind } = this.deps;
    const { namespace, name } = item;
    const turn = await this.turnUnlessSynced(item, signal);
    if (turn === undefined && item.object !== undefined) return item.object;
    try {
      return await client.get(kind, { namespace, name }, { signal, timeoutMs: READ_MS });
    } finally {
      turn?.release();
    }
  }

  /** undefined: the watch was faster than the reads before this one, which may hang. */
  private async turnUnlessSynced(item: Item<T>, signal: AbortSignal): Promise<Turn | undefined> {
    using wait = new Scope(signal);
    const onState = (): void => {
      if (item.object !== undefined) wait.abort(new Error("the watch has the object"));
    };
    item.waiting.add(onState);
    try {
      return await this.reads.acquire({ owner: item.namespace, signal: wait.signal });
    } catch (error) {
      signal.throwIfAborted();
      if (item.object === undefined) throw error;
      return undefined;
    } finally {
      item.waiting.delete(onState);
    }
  }

  private sweepWhileNeeded(): void {
    if (this.items.size > 0) this.sweeper ??= this.deps.clock.every(SWEEP_MS, () => this.sweep()).unref();
    else {
      this.sweeper?.cancel();
      this.sweeper = undefined;
    }
  }

  private sweep(): void {
    const now = this.deps.clock.monotonic();
    const least = this.watches - ENDS_AT_ONCE;
    for (const item of this.items.values()) {
      if (this.watches <= least) {
        this.rest ??= this.deps.clock.after(ENDS_REST_MS, () => {
          this.rest = undefined;
          this.sweep();
        });
        return;
      }
      if (item.unusedSince !== undefined) {
        if (now - item.unusedSince < LINGER_MS) continue;
        this.unfollow(item);
        this.items.delete(item.key);
      } else if (now - item.usedAt >= this.deps.idleMs && !this.references.inVolume(item.key)) this.unfollow(item);
    }
    this.sweepWhileNeeded();
  }
}

/** Never changes any more: there is nothing to follow. */
function isFrozen<T extends KeptObject>(item: Item<T>): item is Item<T> & { object: T } {
  return item.object?.immutable === true;
}
