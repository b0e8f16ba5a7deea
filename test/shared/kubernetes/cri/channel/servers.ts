// Servers of the conformance cases. The first two do the same for the same path.

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import {
  createServer as createHttp2Server,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createConnection, createServer, type Server as NetServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Metadata, Server, ServerCredentials, type ServerUnaryCall, type ServerWritableStream } from "@grpc/grpc-js";
import { MessageReader, withPrefix } from "../../../../../src/shared/kubernetes/cri/channel/message-reader.js";

/** Times a Cancelled call was seen, by server. */
export interface Observed {
  cancelled: number;
  calls: number;
}

export const SERVERS = ["grpc-js", "node:http2"] as const;
export type ServerName = (typeof SERVERS)[number];

export async function newSocket(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "conformance-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return join(folder, "s.sock");
}

const bytesOf = (value: Buffer): Buffer => value;

/** What a call of each path gets. A number in the request is four bytes. */
interface Script {
  headers?: Record<string, string | Buffer>;
  messages: Buffer[];
  code?: number;
  details?: string;
  trailers?: Record<string, string | Buffer>;
  /** The call never ends. */
  hangs?: true;
}

function scriptOf(path: string, request: Buffer, metadata: (name: string) => string): Script {
  const size = request.length >= 4 ? request.readUInt32BE(0) : 0;
  switch (path) {
    case "/t.T/Echo":
      return { messages: [request] };
    case "/t.T/Bytes":
      return { messages: [Buffer.alloc(size, "b")] };
    case "/t.T/Length":
      return { messages: [Buffer.from(String(request.length))] };
    case "/t.T/Many":
      return { messages: Array.from({ length: size }, (_, at) => Buffer.from(`message ${at}`)) };
    case "/t.T/Blocks":
      return { messages: Array.from({ length: size }, (_, at) => Buffer.alloc(100_000, at % 256)) };
    case "/t.T/Fails":
      return {
        messages: [],
        code: 5,
        details: "not found: 100% – “é” 😀",
        trailers: { why: "because", "raw-bin": Buffer.from([1, 2, 255]) },
      };
    case "/t.T/FailsLater":
      return { messages: [Buffer.from("one"), Buffer.from("two")], code: 14, details: "later" };
    case "/t.T/Headers":
      return {
        headers: { first: "yes", "first-bin": Buffer.from("é") },
        messages: [Buffer.from("x")],
        trailers: { last: "too" },
      };
    case "/t.T/Metadata":
      return { messages: [Buffer.from(metadata("asked"))] };
    case "/t.T/Hangs":
      return { messages: [], hangs: true };
    case "/t.T/OneThenHangs":
      return { messages: [Buffer.from("one")], hangs: true };
    default:
      return { messages: [], code: 12, details: `unknown method ${path}` };
  }
}

export interface Running {
  observed: Observed;
  stop(): Promise<void>;
}

export async function startServer(context: TestContext, name: ServerName, path: string): Promise<Running> {
  const observed = { cancelled: 0, calls: 0 };
  const server = name === "grpc-js" ? await startGrpcJs(path, observed) : await startRawHttp2(path, observed);
  context.after(() => server.stop());
  return { observed, ...server };
}

async function startGrpcJs(path: string, observed: Observed): Promise<{ stop(): Promise<void> }> {
  const server = new Server({ "grpc.max_receive_message_length": -1 });
  const stringOf =
    (metadata: Metadata) =>
    (name: string): string =>
      String(metadata.get(name)[0] ?? "");
  const metadataOf = (values: Record<string, string | Buffer> = {}): Metadata => {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(values)) metadata.set(name, value);
    return metadata;
  };
  const unary =
    (route: string) =>
    (
      call: ServerUnaryCall<Buffer, Buffer>,
      reply: (error: object | null, value?: Buffer, trailers?: Metadata) => void,
    ): void => {
      observed.calls++;
      call.on("cancelled", () => observed.cancelled++);
      const { headers, messages, code, details, trailers, hangs } = scriptOf(
        route,
        call.request,
        stringOf(call.metadata),
      );
      if (headers !== undefined) call.sendMetadata(metadataOf(headers));
      if (hangs === true) return;
      if (code !== undefined) reply({ code, details, metadata: metadataOf(trailers) });
      else reply(null, messages[0], metadataOf(trailers));
    };
  const streaming =
    (route: string) =>
    (call: ServerWritableStream<Buffer, Buffer>): void => {
      observed.calls++;
      call.on("cancelled", () => observed.cancelled++);
      call.on("error", () => undefined);
      const { messages, code, details, hangs } = scriptOf(route, call.request, stringOf(call.metadata));
      void (async () => {
        for (const message of messages) {
          if (call.cancelled) return;
          if (!call.write(message))
            await Promise.race([once(call, "drain"), once(call, "cancelled")]).catch(() => undefined);
        }
        if (hangs === true) return;
        if (code === undefined) call.end();
        else call.emit("error", { code, details });
      })();
    };
  const method = (route: string, responseStream: boolean) => ({
    path: route,
    requestStream: false,
    responseStream,
    requestSerialize: bytesOf,
    requestDeserialize: bytesOf,
    responseSerialize: bytesOf,
    responseDeserialize: bytesOf,
  });
  const unaries = ["Echo", "Bytes", "Length", "Fails", "Headers", "Metadata", "Hangs"];
  const streams = ["Many", "Blocks", "FailsLater", "OneThenHangs"];
  const definition = Object.fromEntries([
    ...unaries.map((verb) => [verb, method(`/t.T/${verb}`, false)]),
    ...streams.map((verb) => [verb, method(`/t.T/${verb}`, true)]),
  ]) as Parameters<Server["addService"]>[0];
  const handlers = Object.fromEntries([
    ...unaries.map((verb) => [verb, unary(`/t.T/${verb}`)]),
    ...streams.map((verb) => [verb, streaming(`/t.T/${verb}`)]),
  ]) as Parameters<Server["addService"]>[1];
  server.addService(definition, handlers);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
  return {
    stop: () => {
      server.forceShutdown();
      return Promise.resolve();
    },
  };
}

/** @param onStream answers a stream itself, and says so */
export async function startRawHttp2(
  path: string,
  observed: Observed,
  {
    settings = {},
    onStream = () => false,
    padded = false,
  }: {
    settings?: Parameters<Http2Server["updateSettings"]>[0];
    onStream?: (stream: ServerHttp2Stream, route: string, session: Http2Session) => boolean;
    padded?: boolean;
  } = {},
): Promise<{ stop(): Promise<void>; sessions: Set<ServerHttp2Session> }> {
  // As the server of grpc-js: unsent bytes are no reason to refuse a stream.
  const maxSessionMemory = Number.MAX_SAFE_INTEGER;
  const server = createHttp2Server({ settings, maxSessionMemory, ...(padded && { paddingStrategy: 1 }) });
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => undefined);
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => {
    observed.calls++;
    stream.on("error", () => undefined);
    stream.on("close", () => {
      if (stream.rstCode === 8) observed.cancelled++;
    });
    const route = String(headers[":path"]);
    if (stream.session !== undefined && onStream(stream, route, stream.session)) return;
    const reader = new MessageReader(2 ** 31);
    stream.on("data", (bytes: Buffer) => {
      reader.push(bytes);
      reader.keep();
    });
    stream.on("end", () => {
      const request = reader.next() ?? Buffer.alloc(0);
      answer(
        stream,
        scriptOf(route, request, (name) => String(headers[name] ?? "")),
      );
    });
  });
  server.listen(path);
  await once(server, "listening");
  return {
    sessions,
    stop: async () => {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, "close").catch(() => undefined);
    },
  };
}

function answer(
  stream: ServerHttp2Stream,
  { headers = {}, messages, code = 0, details = "", trailers = {}, hangs }: Script,
): void {
  if (stream.destroyed) return;
  const texts = (values: Record<string, string | Buffer>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString("base64") : value]),
    );
  const last = { "grpc-status": String(code), "grpc-message": encodeURI(details), ...texts(trailers) };
  const first = { ":status": 200, "content-type": "application/grpc", ...texts(headers) };
  if (messages.length === 0 && hangs !== true) {
    stream.respond({ ...first, ...last }, { endStream: true });
    return;
  }
  stream.respond(first, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(last));
  void (async () => {
    for (const message of messages) {
      if (stream.destroyed) return;
      if (!stream.write(withPrefix(message)))
        await Promise.race([once(stream, "drain"), once(stream, "close")]).catch(() => undefined);
    }
    if (hangs !== true) stream.end();
  })();
}

/** A server that writes bytes of its own. `onData` gets each connection's first bytes and later ones. */
export async function startHostile(
  context: TestContext,
  path: string,
  onConnection: (socket: Socket) => void,
): Promise<NetServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  server.listen(path);
  await once(server, "listening");
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return server;
}

/** Stands between client and server, so that a test can cut the connection as a killed process does. */
export async function startProxy(
  context: TestContext,
  path: string,
  target: string,
): Promise<{ kill(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = await startHostile(context, path, (socket) => {
    const there = createConnection(target);
    sockets.add(socket).add(there);
    there.on("error", () => socket.destroy());
    there.on("close", () => socket.destroy());
    socket.on("close", () => there.destroy());
    socket.pipe(there).pipe(socket);
  });
  return {
    kill: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
