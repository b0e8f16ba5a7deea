// The typed client over a transport: kinds and options become paths, queries and bodies.
import type { Clock } from "../../clock/clock.js";
import type { RestClientMetrics } from "../../metrics/rest-client.js";
import type { ClientConfig } from "./config.js";
import { Credentials } from "./credentials/credentials.js";
import type { ClientLog } from "./credentials/identity.js";
import { Transport } from "./connection/transport.js";
import { readList } from "./call/list.js";
import { OBJECT_LIMIT, type OnOversized } from "./decode/oversized.js";
import { Turn } from "./decode/turn.js";
import { readAll, readJson } from "./call/body.js";
import { Caller, type Call } from "./call/caller.js";
import { collectionPath, objectPath, withQuery } from "./call/paths.js";
import { RateLimit } from "./call/rate-limit.js";
import { Presence, type Returns } from "./connection/presence.js";
import { Scope } from "../../abort/scope.js";
import { watchEvents } from "./call/watch.js";
import type {
  ApiClient,
  ApiList,
  ApiObject,
  CallOptions,
  CreateOptions,
  DeleteOptions,
  ListOptions,
  ObjectRef,
  PatchOptions,
  PatchType,
  ResourceKind,
  WatchEvent,
  WatchOptions,
} from "./port.js";

const USER_AGENT = "kubelet/v1.36.0 (linux/amd64) kubernetes/nodelet";
const DEADLINE_MS = 30_000;
/** A server that does not end a watch when it should is no longer listened to. */
const WATCH_GRACE_MS = 15_000;
const JSON_TYPE = "application/json";
const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

/** The calls that one user of the API server may make. */
interface ClientLimits {
  /** Requests per second; 0: client-go's 5; below 0: no limit. A watch counts once. */
  qps?: number;
  /** 0: client-go's 10. */
  burst?: number;
  /** Of each call that names none; default 30,000. */
  timeoutMs?: number;
  userAgent?: string;
}

export interface ClientOptions extends ClientLimits {
  config: ClientConfig;
  clock: Clock;
  log: ClientLog;
  metrics?: RestClientMetrics;
}

/** An ApiClient with its own connections. */
export interface ConnectedClient extends ApiClient {
  /** Another client with its own limits over the same connections. It ends with this one; its close() does nothing. */
  sharing(limits: ClientLimits): ApiClient;
  /** Reports when the server responds again. */
  readonly presence: Returns & Pick<Presence, "seenElsewhere">;
  /** Reads credential files again, now; connections made with an old certificate end. Rejects with CredentialError. */
  reload(): Promise<void>;
}

/** Connects at the first call, not here. */
export function createApiClient(options: ClientOptions): ConnectedClient {
  const { config, clock, log, metrics } = options;
  const credentials = new Credentials(config, clock, log, {
    onRun: (...run) => metrics?.ranPlugin(...run),
    onRotated: (ageMs) => metrics?.rotatedCertificate(ageMs),
    onCaChecked: (check) => metrics?.transport.checkedCa(check),
  });
  const transport = new Transport(config, credentials, clock, log, (host, ms) => metrics?.resolved(host, ms));
  metrics?.transport.created("miss");
  const presence = new Presence(transport, clock);
  return new HttpApiClient({ config, clock, log, transport, presence, metrics }, options, true);
}

interface Shared {
  config: ClientConfig;
  clock: Clock;
  log: ClientLog;
  transport: Transport;
  presence: Presence;
  metrics: RestClientMetrics | undefined;
}

class HttpApiClient implements ConnectedClient {
  private readonly caller: Caller;
  private readonly deadlineMs: number;
  private isClosed = false;

  constructor(
    private readonly shared: Shared,
    limits: ClientLimits,
    private readonly isOwner: boolean,
  ) {
    const { config, clock, log, presence, metrics } = shared;
    const limit = new RateLimit(limits.qps ?? 0, limits.burst ?? 0, clock);
    const userAgent = limits.userAgent ?? USER_AGENT;
    this.caller = new Caller({ config, wire: presence, limit, clock, log, userAgent, metrics });
    this.deadlineMs = limits.timeoutMs ?? DEADLINE_MS;
  }

  get presence(): Presence {
    return this.shared.presence;
  }

  sharing(limits: ClientLimits): ApiClient {
    this.shared.metrics?.transport.created("hit");
    return new HttpApiClient(this.shared, limits, false);
  }

  get<T extends ApiObject>(
    kind: ResourceKind<T>,
    ref: ObjectRef,
    options: CallOptions & { resourceVersion?: string } = {},
  ): Promise<T> {
    const path = withQuery(objectPath(kind, ref), { resourceVersion: options.resourceVersion });
    return this.json<T>("GET", path, undefined, options);
  }

  list<T extends ApiObject>(kind: ResourceKind<T>, options: ListOptions = {}): Promise<ApiList<T>> {
    const { namespace, fieldSelector, labelSelector, resourceVersion, resourceVersionMatch, limit } = options;
    const version = { resourceVersion, resourceVersionMatch };
    const query = { fieldSelector, labelSelector, ...version, limit, continue: options.continue };
    const path = withQuery(collectionPath(kind, namespace), query);
    const packed = this.shared.config.disableCompression === true ? {} : { "accept-encoding": "gzip" };
    const call = this.call("GET", path, undefined, options, packed);
    return this.caller.run(call, options.signal, (response) =>
      readList<T>(response, new Turn(this.shared.clock), this.warnOversized(kind)),
    );
  }

  create<T extends ApiObject>(kind: ResourceKind<T>, object: T, options: CreateOptions = {}): Promise<T> {
    const path = collectionPath(kind, object.metadata.namespace);
    if (options.unread !== true) return this.json<T>("POST", path, typed(kind, object), options);
    const call = this.call("POST", path, typed(kind, object), options);
    return this.caller.run(call, options.signal, async (response) => {
      await readAll(response);
      return object;
    });
  }

  createSub<R>(
    kind: ResourceKind<ApiObject>,
    ref: ObjectRef,
    subresource: string,
    body: unknown,
    options: CallOptions = {},
  ): Promise<R> {
    return this.json<R>("POST", objectPath(kind, ref, subresource), body, options);
  }

  update<T extends ApiObject>(
    kind: ResourceKind<T>,
    object: T,
    options: CallOptions & { subresource?: string } = {},
  ): Promise<T> {
    const { name = "", namespace } = object.metadata;
    const ref = namespace === undefined ? { name } : { name, namespace };
    return this.json<T>("PUT", objectPath(kind, ref, options.subresource), typed(kind, object), options);
  }

  patch<T extends ApiObject>(
    kind: ResourceKind<T>,
    ref: ObjectRef,
    body: unknown,
    options: PatchOptions = {},
  ): Promise<T> {
    const headers = { "content-type": PATCH_TYPES[options.type ?? "strategic"] };
    return this.json<T>("PATCH", objectPath(kind, ref, options.subresource), body, options, headers);
  }

  async delete<T extends ApiObject>(kind: ResourceKind<T>, ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    const { gracePeriodSeconds, preconditions } = options;
    const body = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds, preconditions };
    const call = this.call("DELETE", objectPath(kind, ref), body, options);
    await this.caller.run(call, options.signal, async (response) => {
      await readAll(response);
    });
  }

  async *watch<T extends ApiObject>(kind: ResourceKind<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const { namespace, signal, timeoutSeconds } = options;
    const path = withQuery(collectionPath(kind, namespace), watchQuery(options));
    const call = this.call("GET", path, undefined, {});
    const scope = new Scope(signal);
    try {
      const body = await this.caller.within(call, scope, (response) => response.body);
      scope.unlimited();
      if (timeoutSeconds !== undefined) {
        const late = (): Error => this.caller.failure(call, `the watch did not end after its ${timeoutSeconds} s`);
        scope.limit(this.shared.clock, timeoutSeconds * 1000 + WATCH_GRACE_MS, late);
      }
      yield* watchEvents<T>(body, new Turn(this.shared.clock), options.isKnown, this.warnOversized(kind));
    } catch (error) {
      throw this.caller.explained(call, scope, error);
    } finally {
      scope.abort(new Error("the watch is over"));
      scope.dispose();
    }
  }

  reload(): Promise<void> {
    return this.shared.transport.reload();
  }
  closeConnections(): void {
    this.shared.transport.closeConnections();
  }
  close(): void {
    if (!this.isOwner || this.isClosed) return;
    this.isClosed = true;
    const { transport, metrics, config } = this.shared;
    transport.close();
    metrics?.transport.closed(hasCertificateFiles(config));
  }

  /** For one response; warns once, however many objects are too large. */
  private warnOversized({ resource }: ResourceKind<ApiObject>): OnOversized {
    let isReported = false;
    return () => {
      if (isReported) return;
      isReported = true;
      const fields = { resource, limitMiB: OBJECT_LIMIT / 1024 / 1024 };
      this.shared.log.warn(fields, "The API server sent an object that is too large; the kubelet ignores it");
    };
  }

  private json<R>(
    method: Call["method"],
    path: string,
    body: unknown,
    options: CallOptions,
    headers?: Record<string, string>,
  ): Promise<R> {
    const call = this.call(method, path, body, options, headers);
    return this.caller.run(call, options.signal, async (response) => (await readJson(response)) as R);
  }

  private call(
    method: Call["method"],
    path: string,
    body: unknown,
    { timeoutMs = this.deadlineMs }: CallOptions,
    headers: Record<string, string> = {},
  ): Call {
    const call: Call = { method, path, headers, timeoutMs };
    if (body === undefined) return call;
    return { ...call, headers: { "content-type": JSON_TYPE, ...headers }, body: Buffer.from(JSON.stringify(body)) };
  }
}

function hasCertificateFiles({ clientCertificate, renewedCertificate }: ClientConfig): boolean {
  return (
    renewedCertificate !== undefined || (clientCertificate !== undefined && "file" in clientCertificate.certificate)
  );
}

function watchQuery(options: WatchOptions): Record<string, string | number | boolean | undefined> {
  const { fieldSelector, labelSelector, resourceVersion, timeoutSeconds, sendInitialEvents } = options;
  return {
    watch: true,
    allowWatchBookmarks: true,
    fieldSelector,
    labelSelector,
    resourceVersion,
    timeoutSeconds,
    sendInitialEvents,
    resourceVersionMatch: sendInitialEvents === true ? "NotOlderThan" : undefined,
  };
}

/** The server requires apiVersion and kind in the body. */
function typed<T extends ApiObject>({ group, version, kind }: ResourceKind<T>, object: T): T {
  return { ...object, apiVersion: group === "" ? version : `${group}/${version}`, kind };
}
