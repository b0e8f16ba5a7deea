// The thread's own copy of the node's pods, and /pods made of it. Texts are bytes outside the thread's heap. Small pods
// are kept as objects too, within a budget; others are parsed when a request needs them. A list is written in chunks.
// So neither large pods nor a slow reader exhaust the heap or delay other requests (docs/adr/0080). A list shows the
// pods of the moment it began.

import type { ServerResponse } from "node:http";
import { sharedRead } from "../../../shared/base/turns/shared-read.js";
import type { PodsDelta, PodText } from "../../../shared/contracts/server.js";
import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { writeChunks } from "../http/reply.js";

interface Entry {
  uid: PodUid;
  name: string;
  namespace: string;
  isDeleting: boolean;
  /** JSON of an object with metadata and spec. */
  definition: Buffer<ArrayBuffer>;
  /** JSON. */
  status: Buffer;
  /** The object of a small pod. */
  pod?: Pod | undefined;
  /** The object of another, while something else holds it. */
  parsed?: WeakRef<Pod> | undefined;
}

/** Bytes written at once, about. */
const CHUNK = 64 * 1024;
const HEAD = Buffer.from('{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[');
const TAIL = Buffer.from("]}\n");
const COMMA = Buffer.from(",");
const BEFORE_STATUS = Buffer.from(',"status":');
const END = Buffer.from("}");

/**
 * Bytes of a definition whose memory is given back at once when it is not needed any more, not at the next collection
 * of garbage.
 */
const LARGE = 64 * 1024;

/**
 * Bytes of text up to which a pod is kept as an object, and of all such pods: as objects they take several times as
 * much.
 */
const SMALL = 16 * 1024;
const SMALL_SUM = 16 * 1024 * 1024;

export class PodList {
  private readonly entries = new Map<PodUid, Entry>();
  private readonly ask: () => Promise<void>;
  private readonly listeners = new Set<() => void>();
  private keptBytes = 0;
  /** Lists that are being read, maybe with earlier definitions. */
  private lists = 0;

  /** `ask`: resolves when main has sent each change so far; rejects when main does not answer in time. */
  constructor(ask: () => Promise<void>) {
    this.ask = sharedRead(ask);
  }

  /** Resolves when the list is as main knows the pods; while main is stuck, with the pods of the last change. */
  async current(): Promise<void> {
    await this.ask().catch(() => undefined);
  }

  get size(): number {
    return this.entries.size;
  }

  /** All pods come again. */
  clear(): void {
    for (const uid of this.entries.keys()) this.drop(uid);
    this.changed();
  }

  apply({ set, removed }: PodsDelta): void {
    for (const uid of removed) this.drop(uid);
    for (const text of set) this.put(text);
    this.changed();
  }

  /** Calls `listener` after each change. @returns a function that ends it */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Returns the pod of that name: of several the one that is not terminating, else the newest. */
  find(namespace: string, name: string): Pod | undefined {
    let found: Entry | undefined;
    for (const entry of this.entries.values()) {
      if (entry.name !== name || entry.namespace !== namespace) continue;
      if (found === undefined || !entry.isDeleting) found = entry;
    }
    return found === undefined ? undefined : podOf(found);
  }

  /** The latest version of the pod. */
  get(uid: PodUid): Pod | undefined {
    const entry = this.entries.get(uid);
    return entry === undefined ? undefined : podOf(entry);
  }

  /** All pods, as they are known now. */
  *all(): Generator<Pod> {
    this.lists++;
    try {
      for (const entry of [...this.entries.values()]) yield podOf(entry);
    } finally {
      this.lists--;
    }
  }

  /** Each pod with an object that a new version of the pod replaces. Nothing is parsed before `read` is called. */
  *versions(): Generator<{ uid: PodUid; version: object; read: () => Pod }> {
    for (const entry of [...this.entries.values()]) {
      yield { uid: entry.uid, version: entry, read: () => podOf(entry) };
    }
  }

  /** The v1 PodList as text, piece by piece. An item has no kind and apiVersion, as upstream's, and always a status. */
  *chunks(): Generator<Buffer> {
    this.lists++;
    try {
      yield* this.write();
    } finally {
      this.lists--;
    }
  }

  private *write(): Generator<Buffer> {
    let pending: Buffer[] = [HEAD];
    let size = HEAD.length;
    let first = true;
    for (const { definition, status } of [...this.entries.values()]) {
      if (!first) pending.push(COMMA);
      first = false;
      // Without the definition's closing brace.
      pending.push(definition.subarray(0, -1), BEFORE_STATUS, status, END);
      size += definition.length + status.length;
      if (size < CHUNK) continue;
      yield* slices(pending);
      [pending, size] = [[], 0];
    }
    yield* slices([...pending, TAIL]);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  private put({ uid, definition, status }: PodText): void {
    const known = this.entries.get(uid);
    const place = definition ?? known;
    // A status without a definition is of a pod that the thread does not have.
    if (place === undefined) return;
    const { name, namespace, isDeleting } = place;
    const bytes = definition === undefined ? known?.definition : bufferOf(definition.text);
    if (bytes === undefined) return;
    const entry: Entry = { uid, name, namespace, isDeleting, definition: bytes, status: Buffer.from(status) };
    this.release(known);
    this.keep(entry, definition === undefined ? known?.pod : undefined);
    this.entries.set(uid, entry);
    if (known !== undefined && known.definition !== bytes) this.free(known.definition);
  }

  private drop(uid: PodUid): void {
    const entry = this.entries.get(uid);
    if (entry === undefined) return;
    this.release(entry);
    this.entries.delete(uid);
    this.free(entry.definition);
  }

  /** A definition that a list may still need is left to the collection of garbage, and so are all on Node 20. */
  private free({ buffer, length }: Buffer<ArrayBuffer>): void {
    if (length >= LARGE && this.lists === 0) (buffer as Resizable).transfer?.(0);
  }

  /** `before`: an object with the same definition. */
  private keep(entry: Entry, before: Pod | undefined): void {
    const size = sizeOf(entry);
    if (size > SMALL || this.keptBytes + size > SMALL_SUM) return;
    this.keptBytes += size;
    entry.pod = before === undefined ? parse(entry) : { ...before, status: statusOf(entry) };
  }

  private release(entry: Entry | undefined): void {
    if (entry?.pod !== undefined) this.keptBytes -= sizeOf(entry);
  }

  /** Answers GET /pods. */
  async reply(response: ServerResponse): Promise<void> {
    await this.current();
    response.writeHead(200, { "Content-Type": "application/json" });
    await writeChunks(response, this.chunks());
  }
}

/** ArrayBuffer of Node 22 and later. */
interface Resizable extends ArrayBuffer {
  /** Moves the bytes to a new buffer of that length. The others are free at once. */
  transfer?(length: number): ArrayBuffer;
}

function bufferOf(text: string | Uint8Array<ArrayBuffer>): Buffer<ArrayBuffer> {
  return typeof text === "string" ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
}

function sizeOf({ definition, status }: Entry): number {
  return definition.length + status.length;
}

function podOf(entry: Entry): Pod {
  const known = entry.pod ?? entry.parsed?.deref();
  if (known !== undefined) return known;
  const pod = parse(entry);
  entry.parsed = new WeakRef(pod);
  return pod;
}

function parse(entry: Entry): Pod {
  const { metadata, spec } = JSON.parse(entry.definition.toString()) as Pick<Pod, "metadata" | "spec">;
  return { apiVersion: "v1", kind: "Pod", metadata, spec, status: statusOf(entry) };
}

function statusOf({ status }: Entry): PodStatus {
  return JSON.parse(status.toString()) as PodStatus;
}

/** Pieces of at most CHUNK bytes: a large pod's bytes are not copied whole into the socket's buffer. */
function* slices(buffers: readonly Buffer[]): Generator<Buffer> {
  let small: Buffer[] = [];
  let size = 0;
  for (const buffer of buffers) {
    for (let from = 0; from < buffer.length; from += CHUNK) {
      const part = buffer.subarray(from, from + CHUNK);
      small.push(part);
      size += part.length;
      if (size < CHUNK) continue;
      yield Buffer.concat(small);
      [small, size] = [[], 0];
    }
  }
  if (size > 0) yield Buffer.concat(small);
}
