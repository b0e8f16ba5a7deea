// One GET to a pod's server, and its response. Invariant: every request has its own connection, without proxy,
// keep-alive, compression or certificate check; it ends with a reset. What is read of the server is bounded in bytes
// and processor time.

import type { Socket } from "node:net";
import { asError } from "../../shared/base/errors/thrown.js";
import { lazily } from "../../shared/base/turns/lazily.js";
import { HeaderError } from "../../shared/io/http/client/headers.js";
import type { GetRequest } from "../../shared/io/http/client/redirects.js";
import { requestText, type RequestOptions } from "../../shared/io/http/client/request-text.js";
import { serverOf, type Server } from "../../shared/io/http/client/server-of.js";
import { UrlError } from "../../shared/io/http/url-escapes.js";
import { dial, DialError } from "../../shared/io/net/dial.js";
import { GuardedSource, type Guard } from "./guarded-source.js";
import { GuardedStream } from "./guarded-stream.js";
import { Http1Reply } from "./http1-reply.js";
import { ExchangeError, PendingReply, RefusedError, type Head, type Reply } from "./pending-reply.js";

/**
 * Connections for one request that its server refuses. Go's client makes a third one after a second, later than most
 * probes may take.
 */
const MAX_CONNECTIONS = 2;

const tls = lazily(() => import("./secure.js"));
const http2 = lazily(() => import("./http2-reply.js"));

export interface Exchange {
  request: GetRequest;
  signal: AbortSignal;
  peers: Guard;
  /** Only the head counts; no body is awaited. */
  headOnly?: boolean;
}

/**
 * Rejects with ExchangeError or BodyError; with OverBudgetError before a connection is made. A response whose body is
 * not needed is complete with its head, whatever follows.
 */
export async function exchange(wanted: Exchange, needsBody: (head: Head) => boolean): Promise<Reply> {
  for (let connections = 1; ; connections++) {
    try {
      return await exchangeOnce(wanted, needsBody);
    } catch (error) {
      if (!(error instanceof RefusedError) || connections >= MAX_CONNECTIONS || wanted.signal.aborted) throw error;
    }
  }
}

async function exchangeOnce(
  { request: { url, host, headers }, signal, peers, headOnly = false }: Exchange,
  needsBody: (head: Head) => boolean,
): Promise<Reply> {
  const request: RequestOptions = { url, host, headers, acceptsGzip: headOnly };
  const server = sent(request);
  peers.run.check();
  const raw = await connect(server.host, server.port, signal);
  return await new Promise<Reply>((resolve, reject) => {
    const reply = new PendingReply(
      (head) => !headOnly && needsBody(head),
      signal,
      (outcome) => {
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      },
    );
    if (server.scheme === "http") sendPlain(raw, peers, server.text, reply);
    else sendSecure(raw, peers, server, request, reply).catch((error: unknown) => reply.fail(asError(error)));
  });
}

function sendPlain(raw: Socket, peers: Guard, text: string, reply: PendingReply): void {
  const source = new GuardedSource(raw, peers, true, new Http1Reply(reply));
  reply.owns(() => source.close());
  raw.write(text, "latin1");
}

/** The server chooses between HTTP/2 and HTTP/1.1 by ALPN; one that does not know ALPN gets HTTP/1.1. */
async function sendSecure(
  raw: Socket,
  peers: Guard,
  { host, text }: Sent,
  request: RequestOptions,
  reply: PendingReply,
): Promise<void> {
  const stream = new GuardedStream(raw, peers);
  reply.owns(() => stream.destroy());
  const { secure } = await tls();
  const { socket, explain } = secure(stream, host);
  reply.owns(() => socket.destroy());
  const reader = new Http1Reply(reply);
  socket.once("secureConnect", () => {
    if (socket.alpnProtocol === "h2") {
      http2().then(
        ({ sendHttp2 }) => sendHttp2({ socket, request, reply }),
        (error: unknown) => reply.fail(asError(error)),
      );
      return;
    }
    socket.on("data", (piece: Buffer) => reader.piece(piece));
    socket.on("end", () => reader.end());
    socket.on("close", () => reader.end());
    socket.write(text, "latin1");
  });
  socket.on("error", (error: Error) => reply.fail(explain(error)));
  socket.on("close", () => reader.end());
}

type Sent = Server & { text: string };

/** Where the request goes, and its text. */
function sent(request: RequestOptions): Sent {
  try {
    return { ...serverOf(request.url), text: requestText(request) };
  } catch (error) {
    const isRefused = error instanceof HeaderError || error instanceof UrlError;
    throw isRefused ? new ExchangeError(error.message, { cause: error }) : error;
  }
}

async function connect(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  try {
    return await dial(host, port, signal);
  } catch (error) {
    if (!(error instanceof DialError)) throw error;
    const late = signal.aborted ? " (Client.Timeout exceeded while awaiting headers)" : "";
    throw new ExchangeError(`${error.message}${late}`, { cause: error });
  }
}
