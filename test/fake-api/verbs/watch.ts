// Watches: from a version on, or from a list that is sent first; bookmarks; the end after timeoutSeconds. An object
// that leaves the selection is sent as DELETED, one that enters it as ADDED.
// Invariant: each watch ends by its timeout, its client, or the server's stop, and releases its resources.

import type { Clock, Timer } from "../../../src/shared/base/clock/clock.js";
import { expired, type ApiError } from "../../../src/workers/apiserver/objects/errors.js";
import type { ApiObject, Fields } from "../../../src/workers/apiserver/objects/object.js";
import { filterOf, type Filter } from "../../../src/workers/apiserver/objects/selectors.js";
import { watchOptions } from "../../../src/workers/apiserver/verbs/list-options.js";
import { apiVersionOf, type Resource } from "../resources.js";
import { objectText } from "../storage/encode.js";
import type { Change } from "../storage/store.js";
import type { World } from "../world.js";
import { awaitVersion } from "./list.js";

/** Output for the lines of a watch. */
export interface WatchSink {
  /** Sends the head of the answer. */
  open(): void;
  write(line: string): void;
  /** Resolves when the client has taken most of what was written, or has gone. */
  taken(): Promise<void>;
  /** `drop`: the connection breaks instead of a proper end. */
  end(how: "end" | "drop"): void;
  /** Called when the client goes. */
  onClose(fn: () => void): void;
}

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
/** The last bookmark comes this long before the time-out. */
const LAST_BOOKMARK_MS = 2000;
/** Without timeoutSeconds a watch ends after half an hour to an hour. */
const SHORTEST_MS = 1_800_000;

/** All open watches of a server. */
export class Watches {
  readonly #open = new Set<Watch>();

  get size(): number {
    return this.#open.size;
  }

  /** Namespace and field selector of each watch of a resource, which is named in the plural. */
  of(resource: string): { namespace: string; fieldSelector: string }[] {
    return [...this.#open].filter((watch) => watch.isOf(resource)).map((watch) => watch.what);
  }

  async serve(
    world: World,
    resource: Resource,
    namespace: string,
    query: URLSearchParams,
    sink: WatchSink,
  ): Promise<void> {
    const plan = await planOf(world, resource, query);
    const watch = new Watch(world, resource, namespace, plan, sink);
    this.#open.add(watch);
    sink.onClose(() => watch.close());
    try {
      await watch.run();
    } finally {
      this.#open.delete(watch);
    }
  }

  cut(how: "end" | "drop"): void {
    for (const watch of [...this.#open]) watch.end(how);
  }

  expire(): void {
    for (const watch of [...this.#open]) watch.expire();
  }
}

interface Plan {
  fieldSelector: string;
  filter: Filter | undefined;
  /** Undefined: everything there is comes first. */
  from: number | undefined;
  sendsEnd: boolean;
  bookmarks: boolean;
  timeoutMs: number;
}

async function planOf(world: World, resource: Resource, query: URLSearchParams): Promise<Plan> {
  const filter = filterOf(resource, query);
  const { version, sendsInitial, bookmarks, timeoutMs } = watchOptions(query);
  if (sendsInitial === true) await awaitVersion(world, version);
  const sendsAll = sendsInitial ?? version === 0;
  return {
    fieldSelector: query.get("fieldSelector") ?? "",
    filter,
    from: sendsAll ? undefined : version === 0 ? world.store.revision : version,
    sendsEnd: sendsInitial === true && bookmarks,
    bookmarks,
    timeoutMs: timeoutMs > 0 ? timeoutMs : SHORTEST_MS * (1 + Math.random()),
  };
}

class Watch {
  readonly #timers: Timer[] = [];
  readonly #clock: Clock;
  #release: (() => void) | undefined;
  #done: () => void = () => undefined;
  #isOver = false;
  readonly #prefix: string;

  constructor(
    private readonly world: World,
    private readonly resource: Resource,
    private readonly namespace: string,
    private readonly plan: Plan,
    private readonly sink: WatchSink,
  ) {
    this.#clock = world.clock;
    this.#prefix = resource.namespaced && namespace !== "" ? `${namespace}/` : "";
  }

  get what(): { namespace: string; fieldSelector: string } {
    return { namespace: this.namespace, fieldSelector: this.plan.fieldSelector };
  }

  isOf(resource: string): boolean {
    return this.resource.key === resource;
  }

  async run(): Promise<void> {
    const { store } = this.world;
    const { from, bookmarks, timeoutMs } = this.plan;
    this.sink.open();
    if (from !== undefined && from < store.compacted) {
      this.#sendError(expired(`too old resource version: ${from} (${store.compacted})`));
      this.end("end");
      return;
    }
    const over = new Promise<void>((resolve) => (this.#done = resolve));
    const begin = from ?? store.revision;
    if (from === undefined) await this.#sendAll();
    if (this.#isOver) return;
    for (const change of store.since(this.resource, begin)) this.#send(change);
    // A client that knows a later version than there is hears nothing until that one is passed.
    this.#release = store.subscribe(this.resource, (change) => {
      if (change.revision > begin) this.#send(change);
    });
    this.#timers.push(this.#clock.after(timeoutMs, () => this.end("end")).unref());
    if (bookmarks) {
      this.#timers.push(this.#clock.every(this.world.settings.bookmarkMs, () => this.#bookmark()).unref());
      if (timeoutMs > LAST_BOOKMARK_MS) {
        this.#timers.push(this.#clock.after(timeoutMs - LAST_BOOKMARK_MS, () => this.#bookmark()).unref());
      }
    }
    await over;
  }

  end(how: "end" | "drop"): void {
    if (this.#isOver) return;
    this.close();
    this.sink.end(how);
  }

  expire(): void {
    this.#sendError(expired("too old resource version: the history is compacted"));
    this.end("end");
  }

  close(): void {
    this.#isOver = true;
    this.#release?.();
    for (const timer of this.#timers) timer.cancel();
    this.#done();
  }

  /** Sends the present objects, as fast as the client takes them. */
  async #sendAll(): Promise<void> {
    const { revision } = this.world.store;
    for (const [key, object] of [...this.world.store.entries(this.resource)]) {
      if (!key.startsWith(this.#prefix) || !this.#selects(object)) continue;
      this.#line("ADDED", objectText(this.resource, object));
      await this.sink.taken();
      if (this.#isOver) return;
    }
    if (this.plan.sendsEnd) this.#bookmark({ [INITIAL_EVENTS_END]: "true" }, revision);
  }

  #send({ type, key, object, previous }: Change): void {
    if (this.#isOver || !key.startsWith(this.#prefix)) return;
    const was = previous !== undefined && this.#selects(previous);
    const is = type !== "DELETED" && this.#selects(object);
    if (is) this.#line(was ? "MODIFIED" : "ADDED", objectText(this.resource, object));
    else if (was) this.#line("DELETED", this.#lastText(type, object, previous));
  }

  /** An object that leaves the selection is sent in its old state, at the version at which it left. */
  #lastText(type: Change["type"], object: ApiObject, previous: ApiObject): string {
    if (type === "DELETED") return objectText(this.resource, object);
    const { resourceVersion = "" } = object.metadata;
    return objectText(this.resource, { ...previous, metadata: { ...previous.metadata, resourceVersion } });
  }

  #selects(object: ApiObject): boolean {
    return this.plan.filter?.(object) ?? true;
  }

  #bookmark(annotations?: Record<string, string>, revision = this.world.store.revision): void {
    const metadata: Fields = { resourceVersion: String(revision) };
    if (annotations !== undefined) metadata["annotations"] = annotations;
    const more = this.resource.key === "pods" ? { spec: { containers: null }, status: {} } : {};
    const object = { kind: this.resource.kind, apiVersion: apiVersionOf(this.resource), metadata, ...more };
    this.#line("BOOKMARK", JSON.stringify(object));
  }

  #sendError(error: ApiError): void {
    this.#line("ERROR", JSON.stringify(error.toStatus()));
  }

  #line(type: string, object: string): void {
    if (!this.#isOver) this.sink.write(`{"type":"${type}","object":${object}}\n`);
  }
}
