// The thread's own copy of the node's pods, and /pods made of it. A pod is serialised when it is first asked for and kept as text until it
// changes; a list is written in chunks. So a slow reader neither doubles the memory nor delays other requests. A list shows the pods of the
// moment it began.
import type { ServerResponse } from "node:http";
import type { Pod } from "../../shared/api/pod.js";
import type { PodStatus } from "../../shared/api/pod-status.js";
import type { PodsDelta } from "../../shared/contracts/server.js";
import { writeChunks } from "./reply.js";

interface Entry {
  pod: Pod;
  json?: string;
}

/** Characters written at once. */
const CHUNK = 64 * 1024;
const HEAD = '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[';
const TAIL = "]}\n";

export class PodList {
  private entries = new Map<string, Entry>();
  private readonly listeners = new Set<() => void>();

  get size(): number {
    return this.entries.size;
  }

  /** Replaces all pods. */
  set(pods: readonly Pod[]): void {
    this.entries = new Map(pods.map((pod) => [pod.metadata.uid, { pod }]));
    this.changed();
  }

  apply(delta: PodsDelta): void {
    for (const uid of delta.removed) this.entries.delete(uid);
    for (const text of delta.set) {
      const pod = JSON.parse(text) as Pod;
      this.entries.set(pod.metadata.uid, { pod });
    }
    for (const { uid, status } of delta.statuses) {
      const known = this.entries.get(uid);
      if (known !== undefined)
        this.entries.set(uid, { pod: { ...known.pod, status: JSON.parse(status) as PodStatus } });
    }
    this.changed();
  }

  /** Calls `listener` after each change. @returns a function that ends it */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Of several of that name the one that is not on its way out, else the newest. */
  find(namespace: string, name: string): Pod | undefined {
    let found: Pod | undefined;
    for (const { pod } of this.entries.values()) {
      const { metadata } = pod;
      if (metadata.name !== name || metadata.namespace !== namespace) continue;
      if (found === undefined || metadata.deletionTimestamp === undefined) found = pod;
    }
    return found;
  }

  /** The latest version of the pod. */
  get(uid: string): Pod | undefined {
    return this.entries.get(uid)?.pod;
  }

  /** All pods, as they are known now. */
  *all(): Generator<Pod> {
    for (const { pod } of [...this.entries.values()]) yield pod;
  }

  /** The v1 PodList as text, piece by piece. */
  *chunks(): Generator<string> {
    let pending = HEAD;
    let first = true;
    for (const entry of [...this.entries.values()]) {
      pending += first ? podJson(entry) : `,${podJson(entry)}`;
      first = false;
      if (pending.length >= CHUNK) {
        yield pending;
        pending = "";
      }
    }
    yield pending + TAIL;
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  /** Answers GET /pods. */
  async reply(response: ServerResponse): Promise<void> {
    response.writeHead(200, { "Content-Type": "application/json" });
    await writeChunks(response, this.chunks());
  }
}

/** An item of a list: upstream's items have no kind and apiVersion, and always a status. */
function podJson(entry: Entry): string {
  if (entry.json === undefined) {
    const { metadata, spec, status = {} } = entry.pod;
    entry.json = JSON.stringify({ metadata, spec, status });
  }
  return entry.json;
}
