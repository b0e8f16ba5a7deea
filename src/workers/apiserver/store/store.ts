// The objects of the API: in memory for readers, in a log for durability, in files for people.
// Changes that wait are decided one after the other, written with one sync, and then answered and shown to watches.
// Invariant: a change is answered and visible only when its line of the log is synced, or if it is fleeting. A file may
// be behind the log until the next start, which replays the log. Every change takes the next revision; none is given
// twice, also after a loss of power.

import { join } from "node:path";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { ApiError } from "../objects/errors.js";
import { jsonText } from "../objects/json.js";
import { freeze, type ApiObject } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import { Batch, MAX_STORE_BYTES, MAX_UNLOGGED, type Pending } from "./batch.js";
import { nodeDisk, type Disk } from "./disk.js";
import { heapBytes } from "./heap-bytes.js";
import { History, type Change } from "./history.js";
import { Journal } from "./journal.js";
import { pathOf } from "./object-file.js";
import { ObjectFiles } from "./object-files.js";
import { recover } from "./recovery.js";
import { keyOf, Tables } from "./tables.js";
import type { Transaction } from "./transaction.js";

/** A new log is begun above this size, bytes. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;

export interface StoreOptions {
  directory: string;
  /** Those with files; a resource with another `storage` is a view of one. */
  resources: readonly Resource[];
  log: Pick<Logger, "warn">;
  disk?: Disk;
  maxLogBytes?: number;
  maxBytes?: number;
}

type Listener = (change: Change) => void;

export class Store {
  readonly files: ObjectFiles;
  readonly #tables = new Tables();
  readonly #journal: Journal;
  readonly #listeners = new Map<string, Set<Listener>>();
  #pending: Pending[] = [];
  #history = new History(0);
  #revision = 0;
  /** Changes since the last line of the log. */
  #unlogged = 0;
  #working: Promise<void> | undefined;
  #closed = false;
  /** The log has more than its checkpoint. */
  #isLogged = false;

  private constructor(private readonly options: StoreOptions) {
    const disk = options.disk ?? nodeDisk;
    this.#journal = new Journal(join(options.directory, "changes.log"), disk);
    this.files = new ObjectFiles(join(options.directory, "objects"), disk, options.log);
  }

  static async open(options: StoreOptions): Promise<Store> {
    const store = new Store(options);
    await store.#load();
    return store;
  }

  /** Revision of the last change of any object. */
  get revision(): number {
    return this.#revision;
  }

  /** Versions below it are gone. */
  get compacted(): number {
    return this.#history.compacted;
  }

  get(resource: Resource, key: string): ApiObject | undefined {
    return this.#tables.get(resource, key);
  }

  entries(resource: Resource): readonly (readonly [string, ApiObject])[] {
    return this.#tables.entries(resource);
  }

  /** As they were at a revision that is not compacted. */
  entriesAt(resource: Resource, revision: number): readonly (readonly [string, ApiObject])[] {
    const later = this.#history.since(resource, revision);
    if (later.length === 0) return this.entries(resource);
    const table = new Map(this.entries(resource));
    for (const { key, previous } of later.reverse()) {
      if (previous === undefined) table.delete(key);
      else table.set(key, previous);
    }
    return [...table].sort(([one], [other]) => (one < other ? -1 : 1));
  }

  /** Writes a file as its object is, also one that was removed; without an object it is removed. */
  restore(resource: Resource, path: string, object: ApiObject | undefined): void {
    if (!this.#closed && this.files.restore(path, { resource, object })) this.#working ??= this.#work();
  }

  since(resource: Resource, revision: number): Change[] {
    return this.#history.since(resource, revision);
  }

  subscribe(resource: Resource, listener: Listener): () => void {
    const all = this.#listeners.get(resource.storage) ?? new Set();
    this.#listeners.set(resource.storage, all.add(listener));
    return () => void all.delete(listener);
  }

  /**
   * Decides and makes a change. `decide` reads and writes the transaction at once; what it throws rejects and changes
   * nothing. Resolves when the change survives a loss of power.
   */
  change<T>(decide: (transaction: Transaction) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(shuttingDown());
        return;
      }
      const pending = (transaction: Transaction): (() => void) => {
        const result = decide(transaction);
        return () => resolve(result);
      };
      this.#pending.push({ decide: pending, reject });
      this.#working ??= this.#work();
    });
  }

  /** Resolves when every change and every file is written. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#working;
    // From now on an edited file differs from its digest in the checkpoint.
    if (this.#isLogged) await this.#tryCompact();
    await this.#journal.close();
  }

  async #work(): Promise<void> {
    try {
      do {
        await this.#commit();
        // Files follow when no change waits; a busy store writes the newest version only.
        if (this.#pending.length === 0) await this.files.write("due");
        if (this.#journal.bytes > (this.options.maxLogBytes ?? MAX_LOG_BYTES)) await this.#tryCompact();
      } while (this.#pending.length > 0);
    } finally {
      this.#working = undefined;
    }
  }

  async #commit(): Promise<void> {
    const { maxBytes = MAX_STORE_BYTES } = this.options;
    const batch = new Batch(this.#tables, this.#revision, this.#unlogged, maxBytes);
    while (!batch.isFull) {
      const next = this.#pending.shift();
      if (next === undefined) break;
      batch.add(next);
    }
    try {
      if (batch.lines.length > 0) {
        if (this.#journal.isBroken) await this.#compact();
        await this.#journal.append(batch.lines);
      }
    } catch (error) {
      this.options.log.warn({ err: error }, `changes of objects could not be written: ${errorText(error)}`);
      batch.reject(unwritten(error));
      return;
    }
    this.#unlogged = batch.unlogged;
    for (const [change, bytes] of batch.changes()) this.#apply(change, bytes);
    batch.resolve();
  }

  #apply(change: Change, bytes: number): void {
    const { resource, key, object, type, revision, isFleeting } = change;
    const kept = type === "DELETED" ? undefined : object;
    this.#revision = revision;
    this.#isLogged = true;
    this.#tables.set(resource, key, kept, bytes);
    // A view of a resource has the files of that one.
    this.files.want(pathOf({ key: resource.storage }, object), { resource, object: kept, mayWait: isFleeting });
    this.#history.add(change, bytes);
    for (const listener of [...(this.#listeners.get(resource.storage) ?? [])]) {
      try {
        listener(change);
      } catch (error) {
        // The change is made, and the others hear of it.
        this.options.log.warn({ err: error }, `a watch missed a change: ${errorText(error)}`);
      }
    }
  }

  /** What cannot be written now is written with the next change. */
  async #tryCompact(): Promise<void> {
    try {
      await this.#compact();
    } catch (error) {
      this.options.log.warn({ err: error }, `the log of changes could not be begun anew: ${errorText(error)}`);
    }
  }

  /** Begins a new log. The files must hold everything first. */
  async #compact(): Promise<void> {
    await this.files.write("all");
    if (this.files.areBehind) throw new Error("the files of objects cannot be written");
    await this.#journal.restart({ revision: this.#revision, files: this.files.digests });
    this.#isLogged = false;
    this.#unlogged = 0;
  }

  async #load(): Promise<void> {
    const { resources, log } = this.options;
    const take = (resource: Resource, object: ApiObject): void => {
      const { namespace, name } = object.metadata;
      this.#tables.set(resource, keyOf(namespace, name), freeze(object), heapBytes(jsonText(object)));
    };
    const deps = { journal: this.#journal, files: this.files, resources, log, unlogged: MAX_UNLOGGED, take };
    // No watch goes on from before this start: it would miss what was edited meanwhile.
    this.#revision = (await recover(deps)) + 1;
    this.#history = new History(this.#revision);
    await this.#compact();
  }
}

function shuttingDown(): ApiError {
  return new ApiError(503, "ServiceUnavailable", "the server is shutting down", { retryAfterSeconds: 1 });
}

function unwritten(error: unknown): ApiError {
  return new ApiError(507, "InternalError", `the object could not be written to disk: ${errorText(error)}`);
}
