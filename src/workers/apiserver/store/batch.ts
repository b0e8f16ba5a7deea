// Changes that are decided one after the other and share one sync of the disk. Fleeting ones need none: only so many
// of them follow each other without a line of the log that the next start knows a revision above all of them.
// Invariant: a change that is refused leaves no trace in the batch; the others do not see it.

import { ApiError } from "../objects/errors.js";
import { jsonText } from "../objects/json.js";
import { heapBytes } from "./heap-bytes.js";
import type { Change } from "./history.js";
import type { Entry } from "./journal.js";
import { pathOf } from "./object-file.js";
import type { Tables } from "./tables.js";
import { Transaction } from "./transaction.js";

export const MAX_OBJECTS = 20_000;
/** Characters of an object's JSON, as etcd's limit. */
export const MAX_OBJECT_BYTES = 1536 * 1024;
/** Bytes of all objects in the heap of this thread, which has 256 MiB. */
export const MAX_STORE_BYTES = 96 * 1024 * 1024;
/** Changes of a batch, and the characters of their lines. */
const MAX_BATCH = 256;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** Fleeting changes after the last line of the log. */
export const MAX_UNLOGGED = 64;
/** What an object may gain in a store that is full: statuses and leases go on. */
const SMALL_GROWTH = 16 * 1024;

/** A change that waits for its turn. */
export interface Pending {
  /** Reads and writes the transaction. @returns resolves the change with the result */
  decide: (transaction: Transaction) => () => void;
  reject: (error: unknown) => void;
}

export class Batch {
  /** A line of the log for each change that is written. */
  readonly lines: string[] = [];
  /** Bytes that each object takes in the heap. */
  readonly #sizes: number[] = [];
  readonly #decided: { resolve: () => void; reject: Pending["reject"] }[] = [];
  readonly #all: Transaction;
  #count = 0;
  #length = 0;
  #grown = 0;

  constructor(
    private readonly tables: Tables,
    revision: number,
    /** Changes after the last line of the log, before and with this batch. */
    public unlogged: number,
    private readonly maxBytes: number,
  ) {
    this.#all = new Transaction(tables, revision);
  }

  get isFull(): boolean {
    return this.#count >= MAX_BATCH || this.#length >= MAX_BATCH_BYTES;
  }

  /** Each change with the bytes that its object takes in the heap. */
  *changes(): Iterable<readonly [change: Change, bytes: number]> {
    for (const [at, change] of this.#all.changes.entries()) yield [change, this.#sizes[at] ?? 0];
  }

  /** Decides a change; one that is refused is rejected at once. */
  add({ decide, reject }: Pending): void {
    this.#count++;
    const tried = new Transaction(this.#all, this.#all.lastRevision);
    try {
      const resolve = decide(tried);
      const lines = tried.changes.map(lineOf);
      const sizes = lines.map(heapBytes);
      this.#takeRoom(tried.changes, sizes);
      this.#all.adopt(tried.changes);
      for (const [at, { isFleeting }] of tried.changes.entries()) this.#log(lines[at] ?? "", isFleeting);
      this.#sizes.push(...sizes);
      this.#length += lines.reduce((sum, line) => sum + line.length, 0);
      this.#decided.push({ resolve, reject });
    } catch (error) {
      reject(error);
    }
  }

  /** Answers every change that was decided. */
  resolve(): void {
    for (const { resolve } of this.#decided) resolve();
  }

  /** Refuses every change that was decided. */
  reject(error: ApiError): void {
    for (const { reject } of this.#decided) reject(error);
  }

  #log(line: string, isFleeting: boolean): void {
    if (isFleeting && this.unlogged < MAX_UNLOGGED) {
      this.unlogged++;
      return;
    }
    this.lines.push(line);
    this.unlogged = 0;
  }

  /** @throws ApiError when there are too many objects, or too large ones */
  #takeRoom(changes: readonly Change[], sizes: readonly number[]): void {
    const isNew = changes.some(({ type }) => type === "ADDED");
    if (isNew && this.tables.count >= MAX_OBJECTS) throw full(`${MAX_OBJECTS} objects`);
    const growth = changes.reduce((sum, { type, resource, key }, at) => {
      const bytes = type === "DELETED" ? 0 : (sizes[at] ?? 0);
      return sum + bytes - this.tables.bytesOf(resource, key);
    }, 0);
    const bytes = this.tables.bytes + this.#grown + growth;
    const isSmall = !isNew && growth <= SMALL_GROWTH && bytes <= this.maxBytes * 1.25;
    if (growth > 0 && bytes > this.maxBytes && !isSmall) throw full(`${this.maxBytes / 1024 / 1024} MiB of objects`);
    this.#grown += growth;
  }
}

function entryOf({ revision, resource, object, type }: Change): Entry {
  const path = pathOf({ key: resource.storage }, object);
  return type === "DELETED" ? { revision, path } : { revision, path, object };
}

/** Line of the log. @throws ApiError for an object that is too large */
function lineOf(change: Change): string {
  const line = jsonText(entryOf(change));
  if (line.length <= MAX_OBJECT_BYTES) return line;
  const message = `Request entity too large: an object has at most ${MAX_OBJECT_BYTES} bytes`;
  throw new ApiError(413, "RequestEntityTooLarge", message);
}

function full(what: string): ApiError {
  return new ApiError(403, "Forbidden", `this server keeps at most ${what}`);
}
