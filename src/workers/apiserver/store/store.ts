// The objects of the API: in memory for readers, in a log for durability, in files for people.
// Changes that wait are decided one after the other, written with one sync, and then answered and shown to watches.
// Invariant: a change is answered and visible only when its line of the log is synced. A file may be behind the log
// until the next start, which replays the log. Every change takes the next revision.

import { join } from "node:path";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { ApiError } from "../objects/errors.js";
import { checkTypes } from "../objects/field-types.js";
import { freeze, type ApiObject } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import { nodeDisk, type Disk } from "./disk.js";
import { heapBytes } from "./heap-bytes.js";
import { History, type Change } from "./history.js";
import { Journal, type Entry } from "./journal.js";
import { digestOf, modeOf, objectOf, pathOf, textOf } from "./object-file.js";
import { keyOf, Tables } from "./tables.js";
import { Transaction } from "./transaction.js";

/** A new log is begun above this size, bytes. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
export const MAX_OBJECTS = 20_000;
/** Characters of an object's JSON, as etcd's limit. */
export const MAX_OBJECT_BYTES = 1536 * 1024;
/** Bytes of all objects in the heap of this thread, which has 256 MiB. */
export const MAX_STORE_BYTES = 96 * 1024 * 1024;
/** Changes that share a sync of the disk, and the characters of their lines. */
const MAX_BATCH = 256;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** What an object may gain in a store that is full: statuses and leases go on. */
const SMALL_GROWTH = 16 * 1024;

export interface StoreOptions {
  directory: string;
  /** Those with files; a resource with another `storage` is a view of one. */
  resources: readonly Resource[];
  log: Pick<Logger, "warn">;
  disk?: Disk;
  maxLogBytes?: number;
  maxBytes?: number;
}

/** A change that waits for its turn. */
interface Pending {
  /** Reads and writes the transaction. @returns resolves the change with the result */
  decide: (transaction: Transaction) => () => void;
  reject: (error: unknown) => void;
}
type Listener = (change: Change) => void;

export class Store {
  readonly #tables = new Tables();
  readonly #journal: Journal;
  readonly #disk: Disk;
  readonly #digests = new Map<string, string>();
  /** Objects whose files are behind the log, by path. */
  readonly #behind = new Map<string, { resource: Resource; object: ApiObject | undefined }>();
  /** Files that are written though they were removed. */
  readonly #restored = new Set<string>();
  readonly #listeners = new Map<string, Set<Listener>>();
  #pending: Pending[] = [];
  #history = new History(0);
  #revision = 0;
  #working: Promise<void> | undefined;
  #closed = false;
  /** The log has more than its checkpoint. */
  #isLogged = false;

  private constructor(private readonly options: StoreOptions) {
    this.#disk = options.disk ?? nodeDisk;
    this.#journal = new Journal(join(options.directory, "changes.log"), this.#disk);
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

  /** The folder of the files of objects. */
  get folder(): string {
    return join(this.options.directory, "objects");
  }

  /** Paths of all files, below the folder. */
  paths(): string[] {
    return [...this.#digests.keys()];
  }

  /** The text of a file that is not as this store left it; undefined: it is. "busy": the store writes it. */
  async edited(path: string): Promise<{ text: string | undefined } | "busy" | undefined> {
    const known = this.#digests.get(path);
    const text = await this.#disk.read(join(this.folder, path));
    if (this.#behind.has(path) || this.#digests.get(path) !== known) return "busy";
    return (text === undefined ? undefined : digestOf(text)) === known ? undefined : { text };
  }

  /** Writes a file as its object is, also one that was removed; without an object it is removed. */
  restore(resource: Resource, path: string, object: ApiObject | undefined): void {
    if (this.#closed) return;
    this.#restored.add(path);
    if (this.#behind.has(path)) return;
    this.#behind.set(path, { resource, object });
    this.#working ??= this.#work();
  }

  /** Keeps the text of a file that no object can have. */
  async setAside(path: string, text: string): Promise<void> {
    await this.#disk.replace(`${join(this.folder, path)}.rejected`, text, 0o600);
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
        if (this.#pending.length === 0) await this.#writeFiles();
        if (this.#journal.bytes > (this.options.maxLogBytes ?? MAX_LOG_BYTES)) await this.#tryCompact();
      } while (this.#pending.length > 0);
    } finally {
      this.#working = undefined;
    }
  }

  async #commit(): Promise<void> {
    const overlay = new Transaction(this.#tables, this.#revision);
    const done: { resolve: () => void; reject: Pending["reject"] }[] = [];
    const lines: string[] = [];
    const sizes: number[] = [];
    let length = 0;
    let grown = 0;
    for (let count = 0; count < MAX_BATCH && length < MAX_BATCH_BYTES; count++) {
      const next = this.#pending.shift();
      if (next === undefined) break;
      const { decide, reject } = next;
      const tried = new Transaction(overlay, overlay.lastRevision);
      try {
        const resolve = decide(tried);
        const added = tried.changes.map(lineOf);
        const taken = added.map(heapBytes);
        const growth = this.#growthOf(tried.changes, taken);
        this.#checkRoom(tried.changes, grown, growth);
        overlay.adopt(tried.changes);
        for (const [at, line] of added.entries()) {
          lines.push(line);
          sizes.push(taken[at] ?? 0);
          length += line.length;
        }
        grown += growth;
        done.push({ resolve, reject });
      } catch (error) {
        reject(error);
      }
    }
    const { changes } = overlay;
    try {
      if (changes.length > 0) {
        if (this.#journal.isBroken) await this.#compact();
        await this.#journal.append(lines);
      }
    } catch (error) {
      this.options.log.warn({ err: error }, `changes of objects could not be written: ${errorText(error)}`);
      const refusal = unwritten(error);
      for (const { reject } of done) reject(refusal);
      return;
    }
    for (const [index, change] of changes.entries()) this.#apply(change, sizes[index] ?? 0);
    for (const { resolve } of done) resolve();
  }

  #growthOf(changes: readonly Change[], sizes: readonly number[]): number {
    return changes.reduce((sum, { type, resource, key }, at) => {
      const bytes = type === "DELETED" ? 0 : (sizes[at] ?? 0);
      return sum + bytes - this.#tables.bytesOf(resource, key);
    }, 0);
  }

  /** @param grown by the changes before. @throws ApiError when there are too many objects, or too large ones */
  #checkRoom(changes: readonly Change[], grown: number, growth: number): void {
    const isNew = changes.some(({ type }) => type === "ADDED");
    if (isNew && this.#tables.count >= MAX_OBJECTS) throw full(`${MAX_OBJECTS} objects`);
    const most = this.options.maxBytes ?? MAX_STORE_BYTES;
    const bytes = this.#tables.bytes + grown + growth;
    if (growth <= 0 || bytes <= most) return;
    if (isNew || growth > SMALL_GROWTH || bytes > most * 1.25) throw full(`${most / 1024 / 1024} MiB of objects`);
  }

  #apply(change: Change, bytes: number): void {
    const { resource, key, object, type, revision } = change;
    const kept = type === "DELETED" ? undefined : object;
    this.#revision = revision;
    this.#isLogged = true;
    this.#tables.set(resource, key, kept, bytes);
    this.#behind.set(pathOf(fileResource(resource), object), { resource, object: kept });
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

  /** A file that cannot be written stays behind; the log has the object. */
  async #writeFiles(): Promise<void> {
    for (const [path, { resource, object }] of [...this.#behind]) {
      try {
        await this.#writeFile(path, resource, object);
        if (this.#behind.get(path)?.object === object) this.#behind.delete(path);
      } catch (error) {
        this.options.log.warn({ err: error, path }, `an object's file could not be written: ${errorText(error)}`);
        return;
      }
    }
  }

  async #writeFile(path: string, resource: Resource, object: ApiObject | undefined): Promise<void> {
    const whole = join(this.folder, path);
    const isRestored = this.#restored.delete(path);
    if (object === undefined) {
      await this.#disk.remove(whole);
      this.#digests.delete(path);
      return;
    }
    // A file that was removed by hand since its last version stays away: its object is going to be deleted.
    if (!isRestored && this.#digests.has(path) && (await this.#disk.read(whole)) === undefined) return;
    const text = textOf(object);
    await this.#disk.replace(whole, text, modeOf(resource));
    this.#digests.set(path, digestOf(text));
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
    await this.#writeFiles();
    if (this.#behind.size > 0) throw new Error("the files of objects cannot be written");
    await this.#journal.restart({ revision: this.#revision, files: Object.fromEntries(this.#digests) });
    this.#isLogged = false;
  }

  async #load(): Promise<void> {
    const { checkpoint, entries, damage } = await this.#journal.read();
    if (damage !== undefined) this.options.log.warn(`${damage}; the files of objects count from there on`);
    const logged = new Map<string, Entry[]>();
    for (const entry of entries) {
      const versions = logged.get(entry.path);
      if (versions === undefined) logged.set(entry.path, [entry]);
      else versions.push(entry);
    }
    this.#revision = Math.max(checkpoint.revision, entries.at(-1)?.revision ?? 0);
    for (const whole of await this.#disk.files(this.folder)) {
      const path = whole.slice(this.folder.length + 1);
      const resource = this.options.resources.find(({ key }) => path.startsWith(`${key}/`));
      if (resource === undefined || !path.endsWith(".json")) continue;
      const text = (await this.#disk.read(whole)) ?? "";
      this.#loadFile(path, resource, text, checkpoint.files[path], logged.get(path) ?? []);
      logged.delete(path);
    }
    // Objects that a crash left without a file.
    for (const [path, versions] of logged) {
      const object = versions.at(-1)?.object;
      const resource = this.options.resources.find(({ key }) => path.startsWith(`${key}/`));
      if (resource !== undefined && object !== undefined) this.#take(resource, path, object);
    }
    // No watch goes on from before this start: it would miss what was edited meanwhile.
    this.#revision++;
    this.#history = new History(this.#revision);
    await this.#compact();
  }

  /**
   * @param known digest at the checkpoint
   * @param logged versions since
   */
  #loadFile(path: string, resource: Resource, text: string, known: string | undefined, logged: readonly Entry[]): void {
    const digest = digestOf(text);
    const isOfLog = digest === known || logged.some(({ object }) => object && digestOf(textOf(object)) === digest);
    const last = logged.at(-1);
    if (last !== undefined && isOfLog) {
      // The file is the log's last version, or behind it.
      if (last.object === undefined) this.#behind.set(path, { resource, object: undefined });
      else this.#take(resource, path, last.object);
      return;
    }
    try {
      const object = objectOf(text, path, resource);
      if (isOfLog) {
        this.#take(resource, path, object, digest);
        return;
      }
      checkTypes(object);
      // An operator edited the file after the last change: that is one more.
      const metadata = { ...object.metadata, resourceVersion: String(++this.#revision) };
      this.#take(resource, path, { ...object, metadata });
    } catch (error) {
      this.options.log.warn({ path }, `the file of an object is left out: ${errorText(error)}`);
    }
  }

  /** @param digest of its file; undefined: the file is behind */
  #take(resource: Resource, path: string, object: ApiObject, digest?: string): void {
    const { namespace, name } = object.metadata;
    this.#tables.set(resource, keyOf(namespace, name), freeze(object), heapBytes(JSON.stringify(object)));
    if (digest === undefined) this.#behind.set(path, { resource, object });
    else this.#digests.set(path, digest);
  }
}

/** A view of a resource has the files of that one. */
function fileResource(resource: Resource): Pick<Resource, "key"> {
  return { key: resource.storage };
}

function entryOf({ revision, resource, object, type }: Change): Entry {
  const path = pathOf(fileResource(resource), object);
  return type === "DELETED" ? { revision, path } : { revision, path, object };
}

/** Line of the log. @throws ApiError for an object that is too large */
function lineOf(change: Change): string {
  const line = JSON.stringify(entryOf(change));
  if (line.length <= MAX_OBJECT_BYTES) return line;
  const message = `Request entity too large: an object has at most ${MAX_OBJECT_BYTES} bytes`;
  throw new ApiError(413, "RequestEntityTooLarge", message);
}

function shuttingDown(): ApiError {
  return new ApiError(503, "ServiceUnavailable", "the server is shutting down", { retryAfterSeconds: 1 });
}

function full(what: string): ApiError {
  return new ApiError(403, "Forbidden", `this server keeps at most ${what}`);
}

function unwritten(error: unknown): ApiError {
  return new ApiError(507, "InternalError", `the object could not be written to disk: ${errorText(error)}`);
}
