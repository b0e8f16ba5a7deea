// A proxy between the kubelet and a real runtime. Where a test requests it, the proxy changes, extends or delays
// replies. Invariant: without a lie every call, answer and error passes unchanged.

import { once } from "node:events";
import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  status,
  type Metadata,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { ImageServiceService, RuntimeServiceService } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { CriMethod } from "../../src/shared/kubernetes/cri/verbs.js";
import { sleep } from "../../tools/standalone/wait.js";

type Definitions = typeof RuntimeServiceService & typeof ImageServiceService;
type ResponseOf<M extends CriMethod> = ReturnType<Definitions[M]["responseDeserialize"]>;
type RequestOf<M extends CriMethod> = ReturnType<Definitions[M]["requestDeserialize"]>;

/** Changes an answer of the runtime, or gives another one. One that never resolves is a call that hangs. */
type Lie = (answer: unknown, request: unknown) => unknown;

/** Endpoint options: an answer may be of any size. */
const ANY_SIZE = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };
const same = (bytes: Buffer): Buffer => bytes;

/** Made for each message of a stream that never ends. */
type Flood = (index: number) => unknown;

/** Most messages of one endless stream. */
const MOST_MESSAGES = 200_000;
const MESSAGES_PER_TURN = 50;

export class LyingRuntime {
  /** Answers that were a lie. */
  liesSent = 0;
  /** Trace contexts (W3C) that came with calls, in the order of the calls. */
  readonly traces: { method: string; traceparent: string }[] = [];
  private readonly lies = new Map<string, Lie>();
  private readonly floods = new Map<string, Flood>();
  /** Ends the streams that are under way. */
  private readonly ends = new Set<() => void>();

  private constructor(
    private readonly server: Server,
    private readonly runtime: Client,
  ) {}

  /** Listens at a `unix://` endpoint for the kubelet, and asks the one of the runtime. */
  static async start(endpoint: string, runtime: string): Promise<LyingRuntime> {
    const server = new Server(ANY_SIZE);
    const proxy = new LyingRuntime(server, new Client(runtime, credentials.createInsecure(), ANY_SIZE));
    for (const service of [RuntimeServiceService, ImageServiceService]) {
      server.addService(plain(service), proxy.handlers(service));
    }
    await new Promise<void>((resolve, reject) => {
      const bound = (error: Error | null): void => (error === null ? resolve() : reject(error));
      server.bindAsync(endpoint, ServerCredentials.createInsecure(), bound);
    });
    return proxy;
  }

  /** From now on answers of this verb are changed by `lie`, until lies are cleared. */
  lie<M extends CriMethod>(method: M, lie: (answer: ResponseOf<M>, request: RequestOf<M>) => unknown): void {
    this.lies.set(method, lie as Lie);
  }

  /** From now on streams of this verb get these messages without end, until the wrong replies are cleared. */
  flood<M extends CriMethod>(method: M, make: (index: number) => ResponseOf<M>): void {
    this.floods.set(method, make);
  }

  /** From now on replies are unchanged. */
  clear(): void {
    this.lies.clear();
    this.floods.clear();
    for (const end of this.ends) end();
  }

  stop(): void {
    this.server.forceShutdown();
    this.runtime.close();
  }

  private handlers(service: ServiceDefinition): UntypedServiceImplementation {
    return Object.fromEntries(
      Object.entries(service).map(([method, { path, responseStream, ...codec }]) => [
        method,
        responseStream
          ? (call: ServerWritableStream<Buffer, Buffer>) => {
              const flood = this.floods.get(method);
              if (flood === undefined) this.stream(path, call);
              else void this.pour(flood, codec, call);
            }
          : (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) =>
              this.unary(method, path, codec, call, reply),
      ]),
    );
  }

  private unary(
    method: string,
    path: string,
    codec: Codec,
    call: ServerUnaryCall<Buffer, Buffer>,
    reply: sendUnaryData<Buffer>,
  ): void {
    for (const traceparent of call.metadata.get("traceparent")) {
      this.traces.push({ method, traceparent: String(traceparent) });
    }
    const asked = this.runtime.makeUnaryRequest<Buffer, Buffer>(
      path,
      same,
      same,
      call.request,
      forward(call.metadata),
      (error, bytes) => {
        const lie = this.lies.get(method);
        if (error !== null || bytes === undefined || lie === undefined) {
          reply(error, bytes);
          return;
        }
        this.liesSent++;
        Promise.resolve(lie(codec.responseDeserialize(bytes), codec.requestDeserialize(call.request))).then(
          (answer) => reply(null, codec.responseSerialize(answer)),
          (problem: unknown) => reply({ code: status.INTERNAL, details: String(problem) }),
        );
      },
    );
    call.on("cancelled", () => asked.cancel());
  }

  private async pour(make: Flood, codec: Codec, call: ServerWritableStream<Buffer, Buffer>): Promise<void> {
    const over = new AbortController();
    const end = (): void => over.abort();
    this.ends.add(end);
    call.on("cancelled", end);
    for (let index = 0; index < MOST_MESSAGES && !over.signal.aborted; index++) {
      this.liesSent++;
      const isRead = call.write(codec.responseSerialize(make(index)));
      if (!isRead)
        await Promise.race([once(call, "drain", { signal: over.signal }).catch(() => undefined), sleep(1_000)]);
      else if (index % MESSAGES_PER_TURN === 0) await sleep(1);
    }
    this.ends.delete(end);
    call.emit("error", { code: status.UNIMPLEMENTED, details: "the stream is over" });
  }

  private stream(path: string, call: ServerWritableStream<Buffer, Buffer>): void {
    const asked = this.runtime.makeServerStreamRequest<Buffer, Buffer>(
      path,
      same,
      same,
      call.request,
      forward(call.metadata),
    );
    asked.on("data", (bytes: Buffer) => call.write(bytes));
    asked.on("end", () => call.end());
    asked.on("error", (error) => call.emit("error", error));
    call.on("cancelled", () => asked.cancel());
  }
}

type Codec = Pick<ServiceDefinition[string], "requestDeserialize" | "responseSerialize" | "responseDeserialize">;

/** Messages pass as bytes: what the types do not know of survives. */
function plain(service: ServiceDefinition): ServiceDefinition {
  const codec = {
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  return Object.fromEntries(
    Object.entries(service).map(([method, definition]) => [method, { ...definition, ...codec }]),
  );
}

/** Without what belongs to the kubelet's own connection. */
function forward(metadata: Metadata): Metadata {
  const copy = metadata.clone();
  copy.remove("user-agent");
  return copy;
}
