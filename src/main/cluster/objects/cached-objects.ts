// Strategy Cache: an object that was read is valid for a time, which the Node's annotation may set. A new pod, or a pod
// with a new reference, causes a new read. Invariant: an object is never replaced by an older version of itself.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { isNotFound } from "../../../shared/kubernetes/api/client/errors.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { KeptObject, ObjectManager, ObjectManagerDeps } from "./object-manager.js";
import { ReferenceIndex, keyOf } from "./reference-index.js";
import { type Reference } from "./references.js";

export interface CachedObjectsDeps<T extends KeptObject> extends Pick<ObjectManagerDeps<T>, "client" | "kind"> {
  clock: Pick<Clock, "monotonic">;
  /** Time for which a read object is valid, milliseconds. */
  ttlMs: () => number;
  /** 0 to 1. */
  random?: () => number;
}

interface Item<T> {
  object: T | undefined;
  notFound: unknown;
  until: number;
}

/** Objects that were read together are read again apart: by up to this part of the time. */
const JITTER = 0.1;

export class CachedObjects<T extends KeptObject> implements ObjectManager<T> {
  private readonly references = new ReferenceIndex();
  private readonly items = new Map<string, Item<T>>();

  constructor(private readonly deps: CachedObjectsDeps<T>) {}

  async get(namespace: string, name: string, signal: AbortSignal): Promise<T> {
    const { client, kind, clock } = this.deps;
    const key = keyOf(namespace, name);
    const known = this.items.get(key);
    if (known !== undefined && known.until > clock.monotonic()) return valueOf(known, key);
    // A check for changes may use the server's cache.
    const cached = known?.object === undefined ? {} : { resourceVersion: "0" };
    try {
      const object = await client.get(kind, { namespace, name }, { signal, ...cached });
      return this.keep(key, isOlder(object, known?.object) ? known?.object : object, undefined);
    } catch (error) {
      if (isNotFound(error)) return this.keep(key, undefined, error);
      if (known?.object !== undefined && !signal.aborted) return known.object;
      throw error;
    }
  }

  setReferences(uid: PodUid, namespace: string, names: ReadonlyMap<string, Reference>): void {
    const { added, unused } = this.references.set(uid, namespace, names);
    for (const key of [...added, ...unused]) this.items.delete(key);
  }

  podRemoved(uid: PodUid): void {
    this.setReferences(uid, "", new Map());
  }

  stop(): void {
    this.items.clear();
  }

  private keep(key: string, object: T | undefined, notFound: unknown): T {
    const { clock, ttlMs, random = Math.random } = this.deps;
    const item = { object, notFound, until: clock.monotonic() + ttlMs() * (1 - JITTER * random()) };
    // An object without references is not cached: no later call would remove it.
    if (this.references.usersOf(key).length > 0) this.items.set(key, item);
    return valueOf(item, key);
  }
}

function valueOf<T>({ object, notFound }: Item<T>, key: string): T {
  if (object !== undefined) return object;
  throw notFound instanceof Error ? notFound : new Error(`cannot read ${key}`);
}

/** Versions of one object are growing numbers; if they are not numbers, the response counts. */
function isOlder(object: KeptObject, known: KeptObject | undefined): boolean {
  const [a, b] = [object.metadata.resourceVersion ?? "", known?.metadata.resourceVersion ?? ""];
  if (object.metadata.uid !== known?.metadata.uid || !/^\d+$/.test(a) || !/^\d+$/.test(b)) return false;
  return BigInt(a) < BigInt(b);
}
