// The objects in memory: by resource, then by namespace and name.

import type { ApiObject } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";

export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** What a change or a list may read. */
export interface Reader {
  get(resource: Resource, key: string): ApiObject | undefined;
  /** In the order of their keys. */
  entries(resource: Resource): readonly (readonly [string, ApiObject])[];
  /** In any order, and without the cost of one. */
  keys(resource: Resource): Iterable<string>;
}

export class Tables implements Reader {
  readonly #tables = new Map<string, Map<string, ApiObject>>();
  /** Entries in order, of tables that did not change since. */
  readonly #sorted = new Map<string, readonly (readonly [string, ApiObject])[]>();
  /** Bytes of each object in the heap, by resource, then by key. */
  readonly #sizes = new Map<string, Map<string, number>>();
  #count = 0;
  #bytes = 0;

  get count(): number {
    return this.#count;
  }

  /** Bytes of all objects in the heap. */
  get bytes(): number {
    return this.#bytes;
  }

  bytesOf(resource: Resource, key: string): number {
    return this.#sizes.get(resource.storage)?.get(key) ?? 0;
  }

  get(resource: Resource, key: string): ApiObject | undefined {
    return this.#tables.get(resource.storage)?.get(key);
  }

  entries(resource: Resource): readonly (readonly [string, ApiObject])[] {
    const known = this.#sorted.get(resource.storage);
    if (known !== undefined) return known;
    const table = this.#tables.get(resource.storage) ?? new Map<string, ApiObject>();
    const sorted = [...table].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
    this.#sorted.set(resource.storage, sorted);
    return sorted;
  }

  keys(resource: Resource): Iterable<string> {
    return this.#tables.get(resource.storage)?.keys() ?? [];
  }

  /** @param bytes of the object in the heap */
  set(resource: Resource, key: string, object: ApiObject | undefined, bytes: number): void {
    const sizes = this.#sizes.get(resource.storage) ?? new Map<string, number>();
    this.#sizes.set(resource.storage, sizes);
    this.#bytes += (object === undefined ? 0 : bytes) - (sizes.get(key) ?? 0);
    if (object === undefined) sizes.delete(key);
    else sizes.set(key, bytes);
    const table = this.#tables.get(resource.storage) ?? new Map<string, ApiObject>();
    this.#tables.set(resource.storage, table);
    const before = table.size;
    if (object === undefined) table.delete(key);
    else table.set(key, object);
    this.#count += table.size - before;
    this.#sorted.delete(resource.storage);
  }
}
