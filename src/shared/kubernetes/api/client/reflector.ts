// Delivers all objects of a kind to its owner: the whole set first, then each change. It continues through any failure
// of the server.
// Invariant: no change is lost or delivered twice, except that a new whole set replaces everything. Requests to the
// server are never a busy loop. After stop() the owner receives nothing.

import { Scope } from "../../../base/abort/scope.js";
import type { Clock } from "../../../base/clock/clock.js";
import { asError } from "../../../base/errors/thrown.js";
import { omitUndefined } from "../../../base/objects/omit-undefined.js";
import type { Returns } from "./connection/presence.js";
import type { ClientLog } from "./credentials/identity.js";
import { ApiConnectionError, ApiError, isGone, isRetriable } from "./errors.js";
import type { ApiClient, ApiObject, ResourceKind, Restore, WatchEvent, WatchOptions } from "./port.js";
import { Doubt } from "./reflect/doubt.js";
import { listAll } from "./reflect/list-all.js";
import { Pace, type Round } from "./reflect/pace.js";
import type { SharedOutage } from "./reflect/shared-outage.js";
import { HistoryError, isOlder, isUnknownVersion } from "./reflect/versions.js";

/** A watch ends after 5 to 10 minutes, so that servers behind a balancer get even shares. */
const WATCH_S = 300;
/** While the whole set comes as a stream, something comes at least this often. */
const STREAM_IDLE_MS = 30_000;
/** After this number of refused watches in a row the objects are listed again. */
const REFUSALS = 3;
/** Status codes of servers or proxies that cannot stream a list. */
const NO_STREAM = new Set([400, 405, 406, 415, 422]);

interface ObjectEvent<T> {
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: T;
}

export interface ReflectorOptions<T extends ApiObject> {
  client: ApiClient;
  kind: ResourceKind<T>;
  namespace?: string;
  fieldSelector?: string;
  labelSelector?: string;
  clock: Clock;
  log: ClientLog;
  /** Reports the absence of a server, once for several reflectors. Absent: each reports by itself. */
  outage?: SharedOutage;
  /** All objects, after each list: an object that is missing was deleted. */
  onReplace(objects: T[]): void;
  onEvent(event: ObjectEvent<T>): void;
  /** No list or watch succeeds at present; called at each failed try. */
  onFailure?(error: Error): void;
  /** The owner already has this version of the object from a response: its change is not delivered. */
  isKnown?: (uid: string, resourceVersion: string) => boolean;
  /** Applied to every object before its delivery: drops fields that the owner does not need. */
  transform?: ((object: T) => T) | undefined;
  /** For objects over the client's limit of size; without it they do not exist for the owner. */
  restore?: Restore<T>;
  /** Default: yes, where the server can. */
  streamsList?: boolean;
  /** A server that is back ends a wait within `wakeWithinMs` (default: at once). */
  presence?: Returns;
  wakeWithinMs?: number;
  /** 0 to 1; default Math.random. */
  random?: () => number;
}

export class Reflector<T extends ApiObject> {
  /** True after the delivery of the first whole set; false when the reflector was stopped before. */
  readonly synced: Promise<boolean>;
  private settle: (isSynced: boolean) => void = () => undefined;
  private hasSynced = false;
  private readonly end = new AbortController();
  private running: Promise<void> | undefined;
  /** Until the next request; undefined: one is under way. */
  private resting: Scope | undefined;
  private endPresence: (() => void) | undefined;

  /** resourceVersion of the last list, event or bookmark. Undefined: none yet; "": unknown to the server. */
  private version: string | undefined;
  private needsSet = true;
  /** The server can send the set as a stream. */
  private streams: boolean;
  /** The next set is requested as a list. */
  private plain: boolean;
  private received = 0;
  private refusals = 0;
  private failures = 0;
  private failure: Error | undefined;
  private readonly pace: Pace;
  private readonly doubt: Doubt;
  private readonly random: () => number;

  constructor(private readonly options: ReflectorOptions<T>) {
    this.random = options.random ?? Math.random;
    this.pace = new Pace(options.clock, this.random);
    this.doubt = new Doubt(options.clock, this.random, (signal) => this.affirm(signal));
    this.streams = options.streamsList ?? true;
    this.plain = !this.streams;
    this.synced = new Promise((resolve) => (this.settle = resolve));
  }

  get isSynced(): boolean {
    return this.hasSynced;
  }
  get lastResourceVersion(): string {
    return this.version ?? "";
  }
  /** Why nothing comes at present; undefined while all is well. */
  get lastError(): Error | undefined {
    return this.failure;
  }

  start(): void {
    if (this.running !== undefined) return;
    this.endPresence = this.options.presence?.onReturn(() => this.wake());
    this.running = this.run(this.end.signal);
  }

  /** Resolves when no request is under way any more. Final. */
  async stop(): Promise<void> {
    this.end.abort(new Error("the reflector was stopped"));
    this.options.outage?.over(this);
    this.endPresence?.();
    this.settle(false);
    await this.running;
  }

  private async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    const isStopped = (): boolean => signal.aborted;
    while (!isStopped()) {
      const since = clock.monotonic();
      this.received = 0;
      const how = await this.round(signal);
      if (isStopped()) return;
      const waitMs = this.pace.after({ how, received: this.received, livedMs: clock.monotonic() - since });
      if (waitMs > 0) await this.rest(waitMs, signal);
    }
  }

  private async rest(ms: number, signal: AbortSignal): Promise<void> {
    const scope = new Scope(signal);
    this.resting = scope;
    await this.options.clock.sleep(ms, scope.signal).catch(() => undefined);
    this.resting = undefined;
    scope.dispose();
  }

  private wake(): void {
    const { clock, wakeWithinMs = 0 } = this.options;
    this.resting?.limit(clock, this.random() * wakeWithinMs, () => new Error("the server is back"));
  }

  private async round(signal: AbortSignal): Promise<Round["how"]> {
    try {
      if (this.needsSet && this.plain) await this.list(signal);
      const since = this.options.clock.monotonic();
      await this.watch(signal);
      // Ended before its time: as by a server that shuts down.
      if (this.options.clock.monotonic() - since < WATCH_S * 1000) this.doubt.failed();
      return "end";
    } catch (error) {
      return signal.aborted ? "end" : this.onFailure(asError(error));
    }
  }

  private async list(signal: AbortSignal): Promise<void> {
    const { client, kind } = this.options;
    const resourceVersion = this.version ?? "0";
    const { transformed: transform } = this;
    const { restore } = this.options;
    const selection = omitUndefined({ ...this.selection(), restore });
    const all = await listAll<T>(client, kind, { ...selection, resourceVersion, transform, signal });
    this.replace(all.objects, all.resourceVersion);
  }

  private async watch(signal: AbortSignal): Promise<void> {
    const { client, kind, clock } = this.options;
    let initial = this.needsSet ? new Map<string, T>() : undefined;
    const scope = new Scope(signal);
    const doubting = this.doubt.during(scope);
    const idle = (): Error =>
      new ApiConnectionError(`the list of ${kind.resource} stopped halfway for ${STREAM_IDLE_MS} ms`);
    try {
      for await (const event of client.watch(kind, this.watchOptions(scope.signal, initial !== undefined))) {
        if (signal.aborted) return;
        this.received += 1;
        if (initial === undefined) {
          this.notify(event);
        } else if (event.type === "BOOKMARK" && event.initialEventsEnd) {
          scope.unlimited();
          this.replace([...initial.values()], event.resourceVersion);
          initial = undefined;
        } else {
          scope.limit(clock, STREAM_IDLE_MS, idle);
          this.collect(initial, event);
        }
      }
      if (initial !== undefined && !signal.aborted) {
        throw new ApiConnectionError(`the list of ${kind.resource} as a stream ended before it was complete`);
      }
    } catch (error) {
      this.plain ||= initial !== undefined && this.received > 0;
      throw error;
    } finally {
      scope.abort(new Error("the watch was stopped"));
      await doubting;
      scope.dispose();
    }
  }

  /** Whether the server has come as far as we know it has. Rejects where it has not. */
  private async affirm(signal: AbortSignal): Promise<void> {
    const { client, kind } = this.options;
    const resourceVersion = this.lastResourceVersion;
    if (this.needsSet || resourceVersion === "") return;
    const question = { ...this.selection(), resourceVersion, resourceVersionMatch: "NotOlderThan", limit: 1 } as const;
    const { metadata } = await client.list(kind, { ...question, signal });
    const { resourceVersion: received = "" } = metadata;
    if (isOlder(received, resourceVersion)) throw new HistoryError(resourceVersion, received);
  }

  private watchOptions(signal: AbortSignal, sendInitialEvents: boolean): WatchOptions<T> {
    const timeoutSeconds = Math.floor(WATCH_S * (1 + this.random()));
    const { isKnown, restore } = this.options;
    const resourceVersion = this.version ?? "";
    return omitUndefined({
      ...this.selection(),
      resourceVersion,
      timeoutSeconds,
      signal,
      sendInitialEvents: sendInitialEvents ? sendInitialEvents : undefined,
      isKnown: isKnown === undefined || sendInitialEvents ? undefined : isKnown,
      restore,
    });
  }

  private collect(initial: Map<string, T>, event: WatchEvent<T>): void {
    if (event.type === "BOOKMARK") return;
    const { namespace = "", name = "" } = event.object.metadata;
    if (event.type === "DELETED") initial.delete(`${namespace}/${name}`);
    else initial.set(`${namespace}/${name}`, this.transformed(event.object));
  }

  private notify(event: WatchEvent<T>): void {
    const version = event.type === "BOOKMARK" ? event.resourceVersion : (event.object.metadata.resourceVersion ?? "");
    const known = this.lastResourceVersion;
    if (isOlder(version, known)) throw new HistoryError(known, version);
    this.onWell();
    if (version !== "") this.version = version;
    if (event.type === "BOOKMARK") return;
    const { type, object } = event;
    this.guarded(() => this.options.onEvent({ type, object: this.transformed(object) }));
  }

  private replace(objects: T[], version: string): void {
    if (this.end.signal.aborted) return;
    this.needsSet = false;
    this.plain = !this.streams;
    this.version = version;
    this.onWell();
    this.guarded(() => this.options.onReplace(objects));
    this.hasSynced = true;
    this.settle(true);
  }

  /** After an error of the owner, the same notification is not repeated. */
  private guarded(notify: () => void): void {
    try {
      notify();
    } catch (error) {
      const { kind } = this.options;
      this.options.log.error({ err: error, resource: kind.resource }, "A handler of watched objects failed");
    }
  }

  private readonly transformed = (object: T): T => this.options.transform?.(object) ?? object;

  private selection(): { namespace?: string; fieldSelector?: string; labelSelector?: string } {
    const { namespace, fieldSelector, labelSelector } = this.options;
    return omitUndefined({
      namespace,
      fieldSelector,
      labelSelector,
    });
  }

  private onWell(): void {
    const { log, kind, outage } = this.options;
    const { failures } = this;
    this.doubt.settled();
    this.refusals = 0;
    this.failures = 0;
    this.failure = undefined;
    outage?.over(this);
    if (failures > 0) log.info({ resource: kind.resource, failures }, "Watching the API server's objects again");
  }

  private onFailure(error: Error): Round["how"] {
    if (isUnknownVersion(error)) {
      // An expired version is not worth a log line.
      if (this.needsSet || !isGone(error)) this.reportFailure(error);
      this.relist("");
      return "anew";
    }
    if (this.needsSet && !this.plain && error instanceof ApiError && !isRetriable(error)) {
      this.plain = true;
      if (NO_STREAM.has(error.status)) this.streams = false;
      return "anew";
    }
    this.doubt.failed();
    this.reportFailure(error);
    if (error instanceof ApiConnectionError) return "broken";
    this.refusals += 1;
    if (!isRetriable(error) || this.refusals >= REFUSALS) {
      this.plain ||= this.needsSet;
      this.relist(this.version);
    }
    return "failed";
  }

  private relist(version: string | undefined): void {
    this.needsSet = true;
    this.version = version;
    this.refusals = 0;
  }

  /** Reports each cause once: a server may be away for hours. */
  private reportFailure(error: Error): void {
    const isNews = this.failure?.message !== error.message;
    this.failure = error;
    this.options.onFailure?.(error);
    if (this.options.outage?.failed(this, error) === true) return;
    this.failures += 1;
    const fields = { err: error, resource: this.options.kind.resource };
    if (isNews) this.options.log.warn(fields, "Failed to watch objects of the API server; trying again");
  }
}
