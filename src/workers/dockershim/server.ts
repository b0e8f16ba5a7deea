// The gRPC server on the unix socket: both services of CRI, each method a row of the verb tables. A method without a
// verb is Unimplemented, as CRI's clients expect it of an older runtime.

import { mkdir } from "node:fs/promises";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import { dirname } from "node:path";
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { bindPrivately, listenAt, type BoundSocket } from "../../shared/io/net/private-socket.js";
import { boundedMessage } from "../../shared/kubernetes/bounded-reader.js";
import { ImageServiceService, RuntimeServiceService } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import { verbose, type Logger } from "../../shared/telemetry/log/logger.js";
import type { StreamMethod, StreamVerbs, UnaryMethod, Verbs } from "./call.js";
import { Fault, toStatus } from "./fault.js";

/** As the kubelet's client: a list of all containers of a node is long. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
/** The largest requests create a container. Its variables and arguments have 6 MiB at most, by the kernel's limit. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
/** Fields of a request, at every depth: 200,000 variables. Millions of empty ones would fill the thread's heap. */
const MAX_REQUEST_FIELDS = 600_000;
/** A client that does not answer a ping within KEEPALIVE_ANSWER_MS has gone, or is none of HTTP/2. */
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_ANSWER_MS = 20_000;
/** Connections at the same time. The kubelet has a few. */
const MAX_CONNECTIONS = 4096;
/**
 * Streams at the same time. The kubelet has one of events, and some of lists. A list that its caller does not read
 * stays in memory until the stream ends. @internal
 */
export const MAX_STREAMS = 32;
/** Messages of one stream. */
const MAX_UNREAD = 1000;

export interface CriServerOptions {
  socketPath: string;
  verbs: Partial<Verbs<UnaryMethod>>;
  streams: Partial<StreamVerbs<StreamMethod>>;
  /** A call ended. */
  onCall(method: string, durationMs: number, failed: boolean): void;
  now(): number;
  log: Logger;
}

export class CriServer {
  private readonly sockets = new Set<Socket>();
  /** Those whose last message has not been sent, too. */
  private openStreams = 0;
  private readonly grpc = new Server({
    "grpc.enable_channelz": 0,
    "grpc.max_receive_message_length": MAX_REQUEST_BYTES,
    "grpc.max_send_message_length": MAX_RESPONSE_BYTES,
    "grpc.keepalive_time_ms": KEEPALIVE_MS,
    "grpc.keepalive_timeout_ms": KEEPALIVE_ANSWER_MS,
  });
  private net: NetServer | undefined;
  private bound: BoundSocket | undefined;

  constructor(private readonly options: CriServerOptions) {
    const services: ServiceDefinition[] = [RuntimeServiceService, ImageServiceService];
    for (const service of services) {
      const methods: UntypedServiceImplementation = {};
      const bounded: Record<string, ServiceDefinition[string]> = {};
      for (const [name, definition] of Object.entries(service)) {
        methods[name] = definition.responseStream ? this.stream(name) : this.unary(name);
        const requestDeserialize = (bytes: Buffer): unknown =>
          definition.requestDeserialize(boundedMessage(bytes, MAX_REQUEST_FIELDS));
        bounded[name] = { ...definition, requestDeserialize };
      }
      this.grpc.addService(bounded, methods);
    }
  }

  /** Listens. A socket file of an earlier process is replaced; the lock file keeps two kubelets apart. */
  async start(): Promise<void> {
    const { socketPath } = this.options;
    const injector = this.grpc.createConnectionInjector(ServerCredentials.createInsecure());
    const net = createServer((socket) => {
      this.sockets.add(socket);
      socket.once("close", () => this.sockets.delete(socket));
      // The client's end of the connection; its calls are cancelled.
      socket.on("error", () => undefined);
      injector.injectConnection(socket);
    });
    net.maxConnections = MAX_CONNECTIONS;
    this.net = net;
    await mkdir(dirname(socketPath), { recursive: true, mode: 0o750 });
    // Any client of this socket is root on the node.
    try {
      this.bound = await bindPrivately(socketPath, (path) => listenAt(net, path));
    } catch (error) {
      net.close();
      throw error;
    }
  }

  async stop(): Promise<void> {
    const { net } = this;
    this.net = undefined;
    this.grpc.forceShutdown();
    await this.bound?.remove();
    for (const socket of this.sockets) socket.destroy();
    if (net !== undefined) await new Promise<void>((resolve) => net.close(() => resolve()));
  }

  private unary(method: string): (call: ServerUnaryCall<unknown, unknown>, reply: sendUnaryData<unknown>) => void {
    const verb: unknown = Reflect.get(this.options.verbs, method);
    if (typeof verb !== "function") {
      return (_call, reply) => reply(toStatus(new Fault("UNIMPLEMENTED", `the dockershim has no method ${method}`)));
    }
    return (call, reply) => {
      const gaveUp = new AbortController();
      call.on("cancelled", () => gaveUp.abort(new Fault("DEADLINE_EXCEEDED", `the caller of ${method} gave up`)));
      const begun = this.options.now();
      const run = async (): Promise<unknown> =>
        await Reflect.apply(verb, this.options.verbs, [call.request, gaveUp.signal]);
      run().then(
        (response) => {
          this.options.onCall(method, this.options.now() - begun, false);
          reply(null, response);
        },
        (error: unknown) => {
          const status = toStatus(error);
          this.options.onCall(method, this.options.now() - begun, true);
          verbose(this.options.log, 2)?.({ method, code: status.code }, `a CRI call failed: ${status.details}`);
          reply(status);
        },
      );
    };
  }

  private stream(method: string): (call: ServerWritableStream<unknown, unknown>) => void {
    const verb: unknown = Reflect.get(this.options.streams, method);
    if (typeof verb !== "function") {
      return (call) => {
        call.emit("error", toStatus(new Fault("UNIMPLEMENTED", `the dockershim has no method ${method}`)));
      };
    }
    return (call) => {
      if (this.openStreams >= MAX_STREAMS) {
        const text = `${MAX_STREAMS} streams are open, and no more are served: end one of them`;
        call.emit("error", toStatus(new Fault("RESOURCE_EXHAUSTED", text)));
        return;
      }
      this.openStreams++;
      call.once("close", () => this.openStreams--);
      const gaveUp = new AbortController();
      call.on("cancelled", () => gaveUp.abort(new Fault("DEADLINE_EXCEEDED", `the caller of ${method} gave up`)));
      const send = (response: unknown): void => {
        if (gaveUp.signal.aborted) return;
        if (call.writableLength > MAX_UNREAD)
          throw new Fault("RESOURCE_EXHAUSTED", `the caller of ${method} does not read: ${MAX_UNREAD} messages wait`);
        call.write(response);
      };
      const begun = this.options.now();
      const run = async (): Promise<void> => {
        await Reflect.apply(verb, this.options.streams, [call.request, send, gaveUp.signal]);
      };
      run().then(
        () => {
          this.options.onCall(method, this.options.now() - begun, false);
          call.end();
        },
        (error: unknown) => {
          this.options.onCall(method, this.options.now() - begun, true);
          call.emit("error", toStatus(error));
        },
      );
    };
  }
}
