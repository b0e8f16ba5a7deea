// A small API server for tests of the client alone. The test chooses TLS, HTTP/2 and the responses.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import type { TestPair } from "./test-certs.js";

type Request = IncomingMessage | Http2ServerRequest;
/** Both kinds of response have these, with the same meaning. */
export type Response = Pick<ServerResponse, "statusCode" | "setHeader" | "end" | "writableEnded"> & {
  write(text: string | Uint8Array): boolean;
  once(event: "close", listener: () => void): unknown;
};

interface Seen {
  method: string;
  url: string;
  version: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
  /** The common name of the client's certificate; "" without one. */
  client: string;
}

export type Answer = (seen: Seen, response: Response) => void | Promise<void>;

export interface TestApiServer {
  url: string;
  port: number;
  /** All requests so far. */
  seen: Seen[];
  /** Connections so far, and open ones. */
  connections: number;
  sockets: Set<Socket>;
  sessions: Set<ServerHttp2Session>;
  answer: Answer;
  close(): Promise<void>;
}

export interface ServerOptions {
  protocol: "h2" | "https" | "http";
  pair?: TestPair;
  /** CA of client certificates. */
  clientCa?: string;
  port?: number;
  answer: Answer;
  maxConcurrentStreams?: number;
}

export async function startApiServer(options: ServerOptions): Promise<TestApiServer> {
  const { protocol, pair, clientCa } = options;
  const onRequest = (request: Request, response: unknown): void => {
    void handle(state, request, response as Response);
  };
  const tls = {
    cert: pair?.cert ?? "",
    key: pair?.key ?? "",
    ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false }),
  };
  const settings =
    options.maxConcurrentStreams === undefined ? {} : { maxConcurrentStreams: options.maxConcurrentStreams };
  const server: Server =
    protocol === "h2"
      ? createSecureServer({ ...tls, allowHTTP1: true, settings }, (request, response: Http2ServerResponse) =>
          onRequest(request, response),
        )
      : protocol === "https"
        ? createTlsServer(tls, onRequest)
        : createServer(onRequest);
  const state: TestApiServer = {
    url: "",
    port: 0,
    seen: [],
    connections: 0,
    sockets: new Set(),
    sessions: new Set(),
    answer: options.answer,
    close: async () => {
      for (const session of state.sessions) session.destroy();
      for (const socket of state.sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on("connection", (socket: Socket) => {
    state.connections += 1;
    state.sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => state.sockets.delete(socket));
  });
  server.on("session", (session: ServerHttp2Session) => {
    state.sessions.add(session);
    session.on("error", () => undefined);
    session.once("close", () => state.sessions.delete(session));
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  state.port = (server.address() as AddressInfo).port;
  state.url = `${protocol === "http" ? "http" : "https"}://127.0.0.1:${state.port}`;
  return state;
}

async function handle(state: TestApiServer, request: Request, response: Response): Promise<void> {
  request.on("error", () => undefined);
  const blocks: Buffer[] = [];
  try {
    for await (const block of request) blocks.push(block as Buffer);
  } catch {
    return;
  }
  const { socket } = request as { socket: { getPeerCertificate?: () => { subject?: { CN?: string } } } };
  const seen: Seen = {
    method: request.method ?? "",
    url: request.url ?? "",
    version: request.httpVersion,
    headers: request.headers,
    body: Buffer.concat(blocks).toString("utf8"),
    client: socket.getPeerCertificate?.().subject?.CN ?? "",
  };
  state.seen.push(seen);
  await state.answer(seen, response);
}

/** Ends the response with JSON. */
export function sendJson(response: Response, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(JSON.stringify(body));
}

/** As the API server refuses. */
export function sendStatus(
  response: Response,
  code: number,
  reason: string,
  message: string,
  headers: Record<string, string> = {},
): void {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  sendJson(response, status, code, headers);
}
