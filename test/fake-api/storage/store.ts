// The counterpart of etcd: objects by resource and key, one counter of revisions, and the log of changes. Watches,
// exact lists and continue tokens are served from that log. It applies no rules of the API.
// Invariant: every change takes the next revision; stored objects are frozen; the log reaches back to `compacted`.

import { freeze, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { Resource } from "../resources.js";

export interface Change {
  revision: number;
  type: "ADDED" | "MODIFIED" | "DELETED";
  resource: Resource;
  key: string;
  object: ApiObject;
  /** The object before; none when it was added. */
  previous?: ApiObject;
}

/** Changes kept; the oldest go, as compaction and a full watch cache make them go on the real one. */
const LOG_LIMIT = 50_000;

export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

export class Store {
  #revision = 1;
  #compacted = 0;
  #log: Change[] = [];
  readonly #tables = new Map<string, Map<string, ApiObject>>();
  readonly #listeners = new Map<string, Set<(change: Change) => void>>();

  /** The revision of the last change of anything. */
  get revision(): number {
    return this.#revision;
  }

  /** Versions below it are gone. */
  get compacted(): number {
    return this.#compacted;
  }

  get(resource: Resource, key: string): ApiObject | undefined {
    return this.#tables.get(resource.storage)?.get(key);
  }

  /** Entries in the order of their keys. */
  entries(resource: Resource): [string, ApiObject][] {
    return sorted(this.#tables.get(resource.storage) ?? new Map<string, ApiObject>());
  }

  /** Entries as they were at a revision, which must not be compacted. */
  entriesAt(resource: Resource, revision: number): [string, ApiObject][] {
    const table = new Map(this.#tables.get(resource.storage));
    for (let at = this.#log.length - 1; at >= 0; at--) {
      const change = this.#log[at];
      if (change === undefined || change.revision <= revision) break;
      if (change.resource.storage !== resource.storage) continue;
      if (change.previous === undefined) table.delete(change.key);
      else table.set(change.key, change.previous);
    }
    return sorted(table);
  }

  /** Puts an object (new or changed) under the next revision; gives the stored one. */
  put(resource: Resource, object: ApiObject): ApiObject {
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    const table = this.#tableOf(resource);
    const previous = table.get(key);
    const stored = this.#stamped(object);
    table.set(key, stored);
    this.#record({
      revision: this.#revision,
      type: previous === undefined ? "ADDED" : "MODIFIED",
      resource,
      key,
      object: stored,
      ...(previous === undefined ? {} : { previous }),
    });
    return stored;
  }

  /** Removes an object; gives it as watches see it leave: as stored, or as `last` has it. */
  remove(resource: Resource, key: string, last?: ApiObject): ApiObject | undefined {
    const table = this.#tableOf(resource);
    const previous = table.get(key);
    if (previous === undefined) return undefined;
    const object = this.#stamped(last ?? previous);
    table.delete(key);
    this.#record({ revision: this.#revision, type: "DELETED", resource, key, object, previous });
    return object;
  }

  /** Changes of a resource after a revision, which must not be compacted. */
  since(resource: Resource, revision: number): Change[] {
    return this.#log.filter((change) => change.revision > revision && change.resource.storage === resource.storage);
  }

  subscribe(resource: Resource, listener: (change: Change) => void): () => void {
    const all = this.#listeners.get(resource.storage) ?? new Set();
    this.#listeners.set(resource.storage, all.add(listener));
    return () => {
      all.delete(listener);
    };
  }

  /** Forgets the history up to now: older versions are answered with 410. */
  compact(): void {
    this.#compacted = this.#revision;
    this.#log = [];
  }

  /** All objects are lost and revisions start again, as when etcd's disk is wiped. Watches get no event. */
  wipe(): void {
    this.#tables.clear();
    this.#log = [];
    this.#revision = 1;
    this.#compacted = 0;
  }

  #tableOf(resource: Resource): Map<string, ApiObject> {
    const table = this.#tables.get(resource.storage) ?? new Map<string, ApiObject>();
    this.#tables.set(resource.storage, table);
    return table;
  }

  #stamped(object: ApiObject): ApiObject {
    this.#revision++;
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) };
    return freeze({ ...object, metadata });
  }

  #record(change: Change): void {
    this.#log.push(change);
    if (this.#log.length > LOG_LIMIT) {
      const dropped = this.#log.splice(0, LOG_LIMIT / 10);
      this.#compacted = dropped.at(-1)?.revision ?? this.#compacted;
    }
    for (const listener of [...(this.#listeners.get(change.resource.storage) ?? [])]) listener(change);
  }
}

function sorted(table: ReadonlyMap<string, ApiObject>): [string, ApiObject][] {
  return [...table].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
}
