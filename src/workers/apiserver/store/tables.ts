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

interface Held {
  object: ApiObject;
  /** In the heap. */
  bytes: number;
}

export class Tables implements Reader {
  readonly #tables = new Map<string, Map<string, Held>>();
  /** Entries in order, of tables that did not change since. */
  readonly #sorted = new Map<string, readonly (readonly [string, ApiObject])[]>();
  #count = 0;
  #bytes = 0;

  get count(): number {
    return this.#count;
  }

  /** Bytes of all objects in the heap. */
  get bytes(): number {
    return this.#bytes;
  }

  bytesOf({ storage }: Resource, key: string): number {
    return this.#tables.get(storage)?.get(key)?.bytes ?? 0;
  }

  get({ storage }: Resource, key: string): ApiObject | undefined {
    return this.#tables.get(storage)?.get(key)?.object;
  }

  entries({ storage }: Resource): readonly (readonly [string, ApiObject])[] {
    const known = this.#sorted.get(storage);
    if (known !== undefined) return known;
    const held = [...(this.#tables.get(storage) ?? [])].map(([key, { object }]) => [key, object] as const);
    const sorted = held.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
    this.#sorted.set(storage, sorted);
    return sorted;
  }

  keys({ storage }: Resource): Iterable<string> {
    return this.#tables.get(storage)?.keys() ?? [];
  }

  /** @param bytes of the object in the heap */
  set({ storage }: Resource, key: string, object: ApiObject | undefined, bytes: number): void {
    const table = this.#tables.get(storage) ?? new Map<string, Held>();
    this.#tables.set(storage, table);
    const { size } = table;
    this.#bytes -= table.get(key)?.bytes ?? 0;
    if (object === undefined) table.delete(key);
    else {
      table.set(key, { object, bytes });
      this.#bytes += bytes;
    }
    this.#count += table.size - size;
    this.#sorted.delete(storage);
  }
}
