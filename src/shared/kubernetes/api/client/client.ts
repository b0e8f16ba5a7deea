// The typed client over a transport: kinds and options become paths, queries and bodies.

import { Scope } from "../../../base/abort/scope.js";
import type { Clock } from "../../../base/clock/clock.js";
import type { RestClientMetrics } from "../../../telemetry/metrics/rest-client.js";
import { digitsOf, textWithDigits } from "../wide-integers.js";
import { OversizedBodyError, PROTOBUF_TYPE, readJson, readUnused } from "./call/body.js";
import { Caller, type Call } from "./call/caller.js";
import { readList } from "./call/list.js";
import { ACCEPT_BOTH, type Codec, MediaTypes } from "./call/media-types.js";
import { apiVersionOf, collectionPath, objectPath, withQuery } from "./call/paths.js";
import { RateLimit } from "./call/rate-limit.js";
import { JSON_LINES, watchEvents } from "./call/watch.js";
import type { ClientConfig } from "./config.js";
import { Presence, type Returns } from "./connection/presence.js";
import { Transport } from "./connection/transport.js";
import type { WireResponse } from "./connection/wire.js";
import { Credentials } from "./credentials/credentials.js";
import type { ClientLog } from "./credentials/identity.js";
import { headOfJson } from "./decode/object-head.js";
import { OBJECT_LIMIT, type OnOversized } from "./decode/oversized.js";
import { Turn } from "./decode/turn.js";
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
  /** Deadline of each call that names none; default 30,000. */
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
  readonly presence: Returns & Pick<Presence, "seenElsewhere" | "awaySince">;
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
  const media = new MediaTypes(config.contentType, log);
  return new HttpApiClient({ config, clock, log, transport, presence, media, metrics }, options, true);
}

interface Shared {
  config: ClientConfig;
  clock: Clock;
  log: ClientLog;
  transport: Transport;
  presence: Presence;
  media: MediaTypes;
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
    return this.object<T>({ method: "GET", path, kind }, options);
  }

  list<T extends ApiObject>(kind: ResourceKind<T>, options: ListOptions<T> = {}): Promise<ApiList<T>> {
    const { namespace, fieldSelector, labelSelector, resourceVersion, resourceVersionMatch, limit } = options;
    const { transform, restore } = options;
    const version = { resourceVersion, resourceVersionMatch };
    const query = { fieldSelector, labelSelector, ...version, limit, continue: options.continue };
    const path = withQuery(collectionPath(kind, namespace), query);
    const packed = this.shared.config.disableCompression === true ? {} : { "accept-encoding": "gzip" };
    const request: Request = { method: "GET", path, kind, headers: packed };
    return this.run(request, options, (response, codec) => {
      const turn = new Turn(this.shared.clock);
      const warn = this.warnOversized(kind);
      if (codec !== undefined) return codec.readProtobufList<T>(response, kind, turn, warn, transform, restore);
      return readList<T>(response, turn, warn, transform, restore);
    });
  }

  create<T extends ApiObject>(kind: ResourceKind<T>, object: T, options: CreateOptions = {}): Promise<T> {
    const path = collectionPath(kind, object.metadata.namespace);
    const request: Request = { method: "POST", path, kind, body: typed(kind, object) };
    if (options.unread !== true) return this.object<T>(request, options);
    return this.run(request, options, async (response) => {
      await readUnused(response);
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
    return this.object<R>({ method: "POST", path: objectPath(kind, ref, subresource), kind, body }, options);
  }

  update<T extends ApiObject>(
    kind: ResourceKind<T>,
    object: T,
    options: CallOptions & { subresource?: string } = {},
  ): Promise<T> {
    const { name = "", namespace } = object.metadata;
    const ref = namespace === undefined ? { name } : { name, namespace };
    const path = objectPath(kind, ref, options.subresource);
    return this.object<T>({ method: "PUT", path, kind, body: typed(kind, object) }, options);
  }

  patch<T extends ApiObject>(
    kind: ResourceKind<T>,
    ref: ObjectRef,
    body: unknown,
    options: PatchOptions<T> = {},
  ): Promise<T> {
    const headers = { "content-type": PATCH_TYPES[options.type ?? "strategic"] };
    const path = objectPath(kind, ref, options.subresource);
    return this.run({ method: "PATCH", path, kind, body, headers }, options, async (response, codec) => {
      try {
        return await readObject<T>(response, codec);
      } catch (error) {
        if (!(error instanceof OversizedBodyError)) throw error;
        const head = codec === undefined ? headOfJson(error.head) : codec.responseHead(error.head);
        const object = head === undefined ? undefined : options.restore?.(head);
        if (object === undefined) throw error;
        return object;
      }
    });
  }

  async delete<T extends ApiObject>(kind: ResourceKind<T>, ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    const { gracePeriodSeconds, preconditions } = options;
    const body = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds, preconditions };
    await this.run({ method: "DELETE", path: objectPath(kind, ref), kind, body }, options, async (response) => {
      await readUnused(response);
    });
  }

  async *watch<T extends ApiObject>(kind: ResourceKind<T>, options: WatchOptions<T>): AsyncGenerator<WatchEvent<T>> {
    const codec = await this.codecFor(kind);
    try {
      yield* this.watchIn(codec, kind, options);
    } catch (error) {
      if (codec === undefined || !this.shared.media.refuses(error, false)) throw error;
      yield* this.watchIn(undefined, kind, options);
    }
  }

  private async *watchIn<T extends ApiObject>(
    codec: Codec | undefined,
    kind: ResourceKind<T>,
    options: WatchOptions<T>,
  ): AsyncGenerator<WatchEvent<T>> {
    const { namespace, signal, timeoutSeconds, isKnown, restore } = options;
    const path = withQuery(collectionPath(kind, namespace), watchQuery(options));
    const call = this.call({ method: "GET", path, kind }, {}, codec);
    const scope = new Scope(signal);
    try {
      const response = await this.caller.within(call, scope, (opened) => opened);
      const isProtobuf = codec !== undefined && this.shared.media.isProtobuf(response);
      scope.unlimited();
      if (timeoutSeconds !== undefined) {
        const late = (): Error => this.caller.failure(call, `the watch did not end after its ${timeoutSeconds} s`);
        scope.limit(this.shared.clock, timeoutSeconds * 1000 + WATCH_GRACE_MS, late);
      }
      const [turn, onOversized] = [new Turn(this.shared.clock), this.warnOversized(kind)];
      const format = isProtobuf ? codec.PROTOBUF_FRAMES : JSON_LINES;
      yield* watchEvents<T>(response.body, format, { turn, isKnown, onOversized, restore });
    } catch (error) {
      throw this.caller.explained(call, scope, error);
    } finally {
      scope.abort(new Error("the watch was stopped"));
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
      this.shared.log.warn(
        fields,
        "The API server sent an object that is too large; the kubelet reads only its name and its deletion",
      );
    };
  }

  private object<R>(request: Request, options: CallOptions): Promise<R> {
    return this.run(request, options, (response, codec) => readObject<R>(response, codec));
  }

  /** @param read with the codec where the response is in protobuf */
  private async run<R>(
    request: Request,
    options: CallOptions,
    read: (response: WireResponse, codec: Codec | undefined) => R | Promise<R>,
  ): Promise<R> {
    const { media } = this.shared;
    const codec = await this.codecFor(request.kind);
    const call = this.call(request, options, codec);
    try {
      return await this.caller.run(call, options.signal, (response) =>
        read(response, codec !== undefined && media.isProtobuf(response) ? codec : undefined),
      );
    } catch (error) {
      const sentProtobuf = call.headers?.["content-type"] === PROTOBUF_TYPE;
      if (codec === undefined || !media.refuses(error, sentProtobuf)) throw error;
      return await this.caller.run(this.call(request, options, undefined), options.signal, (response) =>
        read(response, undefined),
      );
    }
  }

  /** undefined: the kind travels in JSON. */
  private async codecFor(kind: ResourceKind<ApiObject>): Promise<Codec | undefined> {
    const codec = await this.shared.media.codec();
    return codec?.hasMessage(kind) === true ? codec : undefined;
  }

  private call(request: Request, { timeoutMs = this.deadlineMs }: CallOptions, codec: Codec | undefined): Call {
    const { method, path, body, headers = {} } = request;
    const accepted = codec === undefined ? headers : { ...headers, accept: ACCEPT_BOTH };
    if (body === undefined) return { method, path, headers: accepted, timeoutMs };
    // Only JSON carries digits that stand beside the object.
    const wide = digitsOf(body);
    const mayEncode = headers["content-type"] === undefined && wide === undefined && this.shared.media.encodesBodies;
    const encoded = mayEncode ? codec?.bodyInProtobuf(body) : undefined;
    const type = encoded === undefined ? JSON_TYPE : PROTOBUF_TYPE;
    const all = { "content-type": type, ...accepted };
    return { method, path, headers: all, timeoutMs, body: encoded ?? Buffer.from(textWithDigits(body, wide)) };
  }
}

/** One request, before its encoding is chosen. */
interface Request {
  method: Call["method"];
  path: string;
  kind: ResourceKind<ApiObject>;
  body?: unknown;
  headers?: Record<string, string>;
}

async function readObject<R>(response: WireResponse, codec: Codec | undefined): Promise<R> {
  return (await (codec === undefined ? readJson(response) : codec.readObject(response))) as R;
}

function hasCertificateFiles({ clientCertificate, renewedCertificate }: ClientConfig): boolean {
  return (
    renewedCertificate !== undefined || (clientCertificate !== undefined && "file" in clientCertificate.certificate)
  );
}

function watchQuery(options: Omit<WatchOptions, "restore">): Record<string, string | number | boolean | undefined> {
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
function typed<T extends ApiObject>(of: ResourceKind<T>, object: T): T {
  return { ...object, apiVersion: apiVersionOf(of), kind: of.kind };
}
