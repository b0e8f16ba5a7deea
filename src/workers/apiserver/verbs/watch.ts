// A watch: from a version on, or from a list that is sent first; bookmarks; the end after timeoutSeconds. An object
// that leaves the selection is sent as DELETED, one that enters it as ADDED.
// Invariant: a watch ends by its time, by its client, by the server's stop, or because its client reads too slowly. It
// then holds nothing. It sends earlier objects and changes as fast as the client takes them, and no bookmark before it
// has sent all: the bookmark's version would cover changes that the client lacks. Meanwhile the watch holds only
// objects that the store or its history has.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { expired, tooLargeVersion, type ApiError } from "../objects/errors.js";
import type { ApiObject, Fields } from "../objects/object.js";
import { apiVersionOf, type Resource } from "../objects/resource.js";
import { filterOf, type Filter } from "../objects/selectors.js";
import type { Change } from "../store/history.js";
import type { Store } from "../store/store.js";
import { watchOptions } from "./list-options.js";

/** Where the lines of a watch go. */
export interface WatchSink {
  /** Line of an event, as the client wants it. @returns false: the client is too far behind, and the watch ends */
  write(type: string, object: ApiObject | Fields): boolean;
  /** Resolves when the client has taken what was written, or is gone. */
  taken(): Promise<void>;
  end(): void;
}

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
const BOOKMARK_MS = 60_000;
/** The last bookmark comes this long before the end. */
const LAST_BOOKMARK_MS = 2000;
/** Without timeoutSeconds a watch ends after half an hour to an hour. */
const SHORTEST_MS = 1_800_000;

interface Plan {
  /** undefined: everything there is comes first. */
  from: number | undefined;
  sendsEnd: boolean;
  bookmarks: boolean;
  timeoutMs: number;
}

export interface WatchRequest {
  resource: Resource;
  namespace: string;
  query: URLSearchParams;
}

export class Watch {
  readonly #timers: Timer[] = [];
  readonly #plan: Plan;
  readonly #filter: Filter | undefined;
  readonly #prefix: string;
  #release: (() => void) | undefined;
  /** The client has all earlier objects and changes. */
  #isLive = false;
  #isOver = false;

  /** @throws ApiError for a query that is refused before the response begins */
  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    { resource, namespace, query }: WatchRequest,
    private readonly sink: WatchSink,
    private readonly onEnd: () => void,
  ) {
    this.resource = resource;
    this.#plan = planOf(store, query);
    this.#filter = filterOf(resource, query);
    this.#prefix = resource.namespaced && namespace !== "" ? `${namespace}/` : "";
  }

  private readonly resource: Resource;

  async start(): Promise<void> {
    const { store, clock } = this;
    const { from, bookmarks, timeoutMs } = this.#plan;
    if (from !== undefined && from < store.compacted) {
      this.expire(`too old resource version: ${from} (${store.compacted})`);
      return;
    }
    this.#timers.push(clock.after(timeoutMs, () => this.end()).unref());
    if (bookmarks) {
      this.#timers.push(clock.every(BOOKMARK_MS, () => this.#bookmarkNow()).unref());
      const lastMs = timeoutMs - LAST_BOOKMARK_MS;
      if (lastMs > 0) this.#timers.push(clock.after(lastMs, () => this.#bookmarkNow()).unref());
    }
    const begin = from ?? (await this.#sendAll());
    if (begin !== undefined) await this.#sendMissed(begin);
  }

  /** From now on each change is sent as it is made. */
  #goLive(at: number): void {
    this.#isLive = true;
    // A client that knows a later version than there is hears nothing until that one is passed.
    this.#release = this.store.subscribe(this.resource, (change) => {
      if (change.revision > at) this.#send(change);
    });
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release?.();
    for (const timer of this.#timers) timer.cancel();
    this.sink.end();
    this.onEnd();
  }

  private expire(why: string): void {
    this.#error(expired(why));
    this.end();
  }

  /** @returns the version that was sent; undefined: the watch is over */
  async #sendAll(): Promise<number | undefined> {
    const { revision } = this.store;
    for (const [key, object] of this.store.entries(this.resource)) {
      if (!key.startsWith(this.#prefix) || !this.#selects(object)) continue;
      this.#line("ADDED", object);
      if (!(await this.#goesOn(revision))) return undefined;
    }
    if (this.#plan.sendsEnd) this.#bookmark({ [INITIAL_EVENTS_END]: "true" }, revision);
    return revision;
  }

  /** Sends the changes after a version, until no other has come meanwhile. */
  async #sendMissed(begin: number): Promise<void> {
    const { store, resource } = this;
    let at = begin;
    for (let missed = store.since(resource, at); missed.length > 0; missed = store.since(resource, at)) {
      at = store.revision;
      for (const change of missed) {
        if (!(await this.#goesOn(change.revision))) return;
        this.#send(change);
      }
      if (!(await this.#goesOn(at))) return;
    }
    this.#goLive(at);
  }

  /** Waits for the client. @returns false: the watch is over, maybe because the history begins after that version */
  async #goesOn(version: number): Promise<boolean> {
    await this.sink.taken();
    if (this.#isOver) return false;
    const { compacted } = this.store;
    if (version >= compacted) return true;
    this.expire(`too old resource version: ${version} (${compacted})`);
    return false;
  }

  #send({ type, key, object, previous }: Change): void {
    if (this.#isOver || !key.startsWith(this.#prefix)) return;
    const was = previous !== undefined && this.#selects(previous);
    const is = type !== "DELETED" && this.#selects(object);
    if (is) this.#line(was ? "MODIFIED" : "ADDED", object);
    else if (was) this.#line("DELETED", type === "DELETED" ? object : asLast(previous, object));
  }

  #selects(object: ApiObject): boolean {
    return this.#filter?.(object) ?? true;
  }

  #bookmarkNow(): void {
    if (this.#isLive) this.#bookmark(undefined, this.store.revision);
  }

  #bookmark(annotations: Record<string, string> | undefined, revision: number): void {
    const metadata = { resourceVersion: String(revision), annotations };
    const more = this.resource.key === "pods" ? { spec: { containers: null }, status: {} } : {};
    const { kind } = this.resource;
    this.#line("BOOKMARK", { kind, apiVersion: apiVersionOf(this.resource), metadata, ...more });
  }

  #error(error: ApiError): void {
    this.#line("ERROR", error.toStatus());
  }

  #line(type: string, object: ApiObject | Fields): void {
    if (!this.#isOver && !this.sink.write(type, object)) this.end();
  }
}

/** An object that leaves the selection is sent in its old state, at the version at which it left. */
function asLast(previous: ApiObject, { metadata }: ApiObject): ApiObject {
  const { resourceVersion = "" } = metadata;
  return { ...previous, metadata: { ...previous.metadata, resourceVersion } };
}

function planOf({ revision }: Store, query: URLSearchParams): Plan {
  const { version, sendsInitial, bookmarks, timeoutMs } = watchOptions(query);
  if (sendsInitial === true && version > revision) throw tooLargeVersion(version, revision);
  const sendsAll = sendsInitial ?? version === 0;
  return {
    from: sendsAll ? undefined : version === 0 ? revision : version,
    sendsEnd: sendsInitial === true && bookmarks,
    bookmarks,
    timeoutMs: timeoutMs > 0 ? Math.min(timeoutMs, 2 * SHORTEST_MS) : SHORTEST_MS * (1 + Math.random()),
  };
}
