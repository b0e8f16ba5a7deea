// The typed CRI client: every call of runtime.v1 with a deadline, an AbortSignal and typed errors.
import { Client, credentials, Metadata, type CallOptions as GrpcCallOptions, type ServiceError } from "@grpc/grpc-js";
import type { Clock } from "../clock/clock.js";
import { defaultDeadlineMs, missingField, operationName } from "./call-policy.js";
import { CriBadReplyError, CriError, GRPC_CODES, isCriError } from "./errors.js";
import * as gen from "./gen/runtime.v1.js";
import { ImageServiceService, RuntimeServiceService, type DeepPartial } from "./gen/runtime.v1.js";
import { VerbGate } from "./verb-gate.js";

export * from "./errors.js";

export interface CallOptions {
  /** Overrides the verb's own deadline, milliseconds. */
  deadlineMs?: number;
  signal?: AbortSignal;
}

/** One method of a generated service definition. */
interface MethodDefinition {
  path: string;
  responseStream: boolean;
  requestSerialize: (value: never) => Buffer;
  responseDeserialize: (bytes: Buffer) => unknown;
}

type Services = typeof RuntimeServiceService & typeof ImageServiceService;
type RequestOf<M> = M extends { requestSerialize: (value: infer R) => Buffer } ? R : never;
type ReplyOf<M> = M extends { responseDeserialize: (bytes: Buffer) => infer R } ? R : never;
type UnaryCalls = {
  [K in keyof Services as Services[K] extends { responseStream: false } ? K : never]: (
    request: DeepPartial<RequestOf<Services[K]>>,
    options?: CallOptions,
  ) => Promise<ReplyOf<Services[K]>>;
};
type StreamCalls = {
  [K in keyof Services as Services[K] extends { responseStream: true } ? K : never]: (
    request: DeepPartial<RequestOf<Services[K]>>,
    options?: CallOptions,
  ) => AsyncIterable<ReplyOf<Services[K]>>;
};
type Capitalised<S extends string> = S extends `${infer H}${infer T}` ? `${Uppercase<H>}${T}` : S;

/** "RunPodSandbox", "ListImages", … */
export type CriVerb = Capitalised<keyof Services & string>;

/** Every call of RuntimeService and ImageService by its name in camelCase. Unary calls reject with CriError. */
export type CriClient = UnaryCalls & StreamCalls & { close(): void };

export interface CallRecord {
  verb: CriVerb;
  /** `operation_type` of the kubelet_runtime_operations metrics. */
  operation: string;
  durationMs: number;
  error?: CriError;
}

export interface CriClientOptions {
  /** "unix:///run/containerd/containerd.sock", or a bare path. */
  endpoint: string;
  /** runtimeRequestTimeout, milliseconds. */
  runtimeRequestTimeoutMs: number;
  clock: Clock;
  onCall?: (record: CallRecord) => void;
  /** Calls of a verb that may be under way at once; unlimited when absent. */
  concurrency?: Partial<Record<CriVerb, number>>;
}

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

const CHANNEL_OPTIONS = {
  "grpc.default_authority": "localhost",
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.initial_reconnect_backoff_ms": 50,
  // Upstream waits up to 3 s. A try on a unix socket costs nothing, and a pod may be waiting for the runtime's return.
  "grpc.max_reconnect_backoff_ms": 250,
  "grpc.min_reconnect_backoff_ms": 50,
  "grpc.enable_retries": 0,
  "grpc.use_local_subchannel_pool": 1,
};

/** Connects lazily: a runtime that is absent shows as UNAVAILABLE on the first call. */
export function createCriClient(options: CriClientOptions): CriClient {
  const caller = new Caller(options);
  const client: Record<string, unknown> = { close: () => caller.close() };
  for (const [name, method] of Object.entries({ ...RuntimeServiceService, ...ImageServiceService })) {
    const definition = method as MethodDefinition;
    const call = new BoundMethod(definition);
    client[name] = definition.responseStream
      ? (request: object, callOptions: CallOptions = {}) => caller.stream(call, request, callOptions)
      : (request: object, callOptions: CallOptions = {}) => caller.unary(call, request, callOptions);
  }
  // The loop above covers exactly the keys of the two service definitions, which the type is made from.
  return client as unknown as CriClient;
}

/** A method with its names and the function that fills a partial request. */
class BoundMethod {
  readonly verb: CriVerb;
  readonly operation: string;
  private readonly fill: (partial: object) => unknown;

  constructor(readonly definition: MethodDefinition) {
    const verb = definition.path.slice(definition.path.lastIndexOf("/") + 1);
    this.verb = verb as CriVerb;
    this.operation = operationName(verb);
    const messages = gen as unknown as Record<string, { fromPartial(partial: object): unknown } | undefined>;
    const message = messages[verb === "GetContainerEvents" ? "GetEventsRequest" : `${verb}Request`];
    if (message === undefined) throw new Error(`no request message for ${verb} in the generated CRI types`);
    this.fill = (partial) => message.fromPartial(partial);
  }

  serialize = (partial: object): Buffer => this.definition.requestSerialize(this.fill(partial) as never);
  deserialize = (bytes: Buffer): object => this.definition.responseDeserialize(bytes) as object;
}

class Caller {
  private readonly channel: Client;
  private readonly gates = new Map<string, VerbGate>();
  private readonly endpoint: string;

  constructor(private readonly options: CriClientOptions) {
    this.endpoint = options.endpoint.includes("://") ? options.endpoint : `unix://${options.endpoint}`;
    this.channel = new Client(this.endpoint, credentials.createInsecure(), CHANNEL_OPTIONS);
    for (const [verb, limit] of Object.entries(options.concurrency ?? {})) this.gates.set(verb, new VerbGate(limit));
  }

  close(): void {
    this.channel.close();
  }

  async unary(method: BoundMethod, request: object, options: CallOptions): Promise<object> {
    const { clock } = this.options;
    const deadlineAt = this.deadlineAt(method, request, options);
    const gate = this.gates.get(method.verb);
    await gate?.enter(options.signal);
    const startedAt = clock.monotonic();
    let failure: CriError | undefined;
    try {
      const reply = await this.send(method, request, options.signal, deadlineAt);
      const missing = missingField(method.verb, reply as Record<string, unknown>);
      if (missing === undefined) return reply;
      const details = `the reply lacks ${missing}, which CRI v1 requires`;
      throw new CriBadReplyError(method.verb, "INTERNAL", details, subjectOf(request), this.endpoint);
    } catch (error) {
      failure = isCriError(error) ? error : undefined;
      throw error;
    } finally {
      gate?.leave();
      this.options.onCall?.({
        verb: method.verb,
        operation: method.operation,
        durationMs: clock.monotonic() - startedAt,
        ...(failure === undefined ? {} : { error: failure }),
      });
    }
  }

  private send(
    method: BoundMethod,
    request: object,
    signal: AbortSignal | undefined,
    deadlineAt: number | undefined,
  ): Promise<object> {
    return new Promise<object>((resolve, reject) => {
      const grpcOptions: GrpcCallOptions = deadlineAt === undefined ? {} : { deadline: deadlineAt };
      const onAbort = (): void => call.cancel();
      const call = this.channel.makeUnaryRequest<object, object>(
        method.definition.path,
        method.serialize,
        method.deserialize,
        request,
        new Metadata(),
        grpcOptions,
        (error: ServiceError | null, reply?: object) => {
          signal?.removeEventListener("abort", onAbort);
          if (error !== null) reject(this.wrap(method, request, error));
          else if (reply === undefined) reject(this.wrap(method, request, { code: 13, details: "empty reply" }));
          else resolve(reply);
        },
      );
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  async *stream(method: BoundMethod, request: object, options: CallOptions): AsyncGenerator<object> {
    const deadlineAt = this.deadlineAt(method, request, options);
    const call = this.channel.makeServerStreamRequest<object, object>(
      method.definition.path,
      method.serialize,
      method.deserialize,
      request,
      new Metadata(),
      deadlineAt === undefined ? {} : { deadline: deadlineAt },
    );
    const onAbort = (): void => call.cancel();
    if (options.signal?.aborted === true) onAbort();
    else options.signal?.addEventListener("abort", onAbort, { once: true });
    try {
      for await (const item of call) yield item as object;
    } catch (error) {
      throw this.wrap(method, request, error as Partial<ServiceError>);
    } finally {
      options.signal?.removeEventListener("abort", onAbort);
      call.cancel();
    }
  }

  private deadlineAt(method: BoundMethod, request: object, options: CallOptions): number | undefined {
    const ms = options.deadlineMs ?? defaultDeadlineMs(method.verb, request, this.options.runtimeRequestTimeoutMs);
    return ms === undefined ? undefined : this.options.clock.now() + ms;
  }

  private wrap(method: BoundMethod, request: object, error: Partial<ServiceError>): CriError {
    const code = GRPC_CODES[error.code ?? 2] ?? "UNKNOWN";
    return new CriError(method.verb, code, error.details ?? String(error), subjectOf(request), this.endpoint);
  }
}

/** Names what a request is about, for error messages. */
function subjectOf(request: object): string {
  const fields = request as Record<string, unknown>;
  const id = (value: unknown): string => String(value).slice(0, 13);
  const config = fields["config"] as { metadata?: { name?: string; namespace?: string } } | undefined;
  if (typeof fields["containerId"] === "string") return `container ${id(fields["containerId"])}`;
  if (config?.metadata?.name !== undefined) {
    const { name, namespace } = config.metadata;
    return namespace === undefined ? `container "${name}"` : `pod ${namespace}/${name}`;
  }
  if (typeof fields["podSandboxId"] === "string") return `sandbox ${id(fields["podSandboxId"])}`;
  const image = (fields["image"] as { image?: string } | undefined)?.image;
  return image === undefined ? "" : `image "${image}"`;
}
