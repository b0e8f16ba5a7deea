// What one change reads and writes. It sees its own writes and those of the changes before it, which may not be on disk
// yet; readers outside see neither.

import { freeze, type ApiObject } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import type { Change } from "./history.js";
import { keyOf, type Reader } from "./tables.js";

export class Transaction implements Reader {
  readonly changes: Change[] = [];
  /** The last change of each object. */
  readonly #latest = new Map<string, Change>();

  /**
   * @param below what was there before
   * @param revision of the last change before
   */
  constructor(
    private readonly below: Reader,
    private revision: number,
  ) {}

  get lastRevision(): number {
    return this.revision;
  }

  get(resource: Resource, key: string): ApiObject | undefined {
    const own = this.#latest.get(idOf(resource, key));
    if (own === undefined) return this.below.get(resource, key);
    return own.type === "DELETED" ? undefined : own.object;
  }

  entries(resource: Resource): readonly (readonly [string, ApiObject])[] {
    const own = this.changes.filter((change) => change.resource.storage === resource.storage);
    if (own.length === 0) return this.below.entries(resource);
    const table = new Map(this.below.entries(resource));
    for (const { type, key, object } of own) {
      if (type === "DELETED") table.delete(key);
      else table.set(key, object);
    }
    return [...table].sort(([one], [other]) => (one < other ? -1 : 1));
  }

  *keys(resource: Resource): Iterable<string> {
    for (const key of this.below.keys(resource)) if (this.get(resource, key) !== undefined) yield key;
    for (const { resource: of, key, type } of this.#latest.values()) {
      const isNew = type !== "DELETED" && of.storage === resource.storage;
      if (isNew && this.below.get(resource, key) === undefined) yield key;
    }
  }

  /** Puts an object, new or changed, under the next revision; gives the stored one. `isFleeting` as in Change. */
  put(resource: Resource, object: ApiObject, isFleeting = false): ApiObject {
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    const previous = this.get(resource, key);
    const stored = this.stamped(object);
    const type = previous === undefined ? "ADDED" : "MODIFIED";
    this.record({ type, resource, key, object: stored, previous, isFleeting });
    return stored;
  }

  /** Removes an object as it stands in `last`; gives it as watches see it leave. */
  remove(resource: Resource, key: string, last: ApiObject): ApiObject {
    const previous = this.get(resource, key) ?? last;
    const object = this.stamped(last);
    this.record({ type: "DELETED", resource, key, object, previous, isFleeting: false });
    return object;
  }

  /** Takes changes over that were made on the same objects. */
  adopt(changes: readonly Change[]): void {
    for (const change of changes) {
      this.revision = change.revision;
      this.changes.push(change);
      this.#latest.set(idOf(change.resource, change.key), change);
    }
  }

  private record(change: Omit<Change, "revision">): void {
    this.adopt([{ revision: this.revision, ...change }]);
  }

  private stamped(object: ApiObject): ApiObject {
    this.revision++;
    return freeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.revision) } });
  }
}

function idOf({ storage }: Resource, key: string): string {
  return `${storage}/${key}`;
}
