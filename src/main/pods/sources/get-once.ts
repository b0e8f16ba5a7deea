// One GET on a connection of its own, to a server that the operator named: certificates are verified. The whole
// response is in memory.

import { connect as connectPlain, isIP, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { GetRequest } from "../../../shared/io/http/client/redirects.js";
import { ReplyError } from "../../../shared/io/http/client/reply-error.js";
import { ReplyReader } from "../../../shared/io/http/client/reply-reader.js";
import { requestText } from "../../../shared/io/http/client/request-text.js";
import { serverOf } from "../../../shared/io/http/client/server-of.js";
import { limitedTls } from "../../../shared/io/net/handshake-limit.js";
import { verifyingClientTls } from "../../../shared/io/net/untrusted-server-tls.js";
import { GetOnceError, type GetLimits, type WholeReply } from "./whole-reply.js";

/** What is used of the head. */
const USED_FIELDS = ["Location", "Content-Encoding"];

/**
 * Rejects with GetOnceError, with HeaderError or UrlError for a request that cannot be sent, or with the signal's
 * reason.
 */
export async function getOnce(request: GetRequest, limits: GetLimits): Promise<WholeReply> {
  const { scheme, host, port } = serverOf(request.url);
  const text = requestText({ ...request, acceptsGzip: true });
  limits.signal.throwIfAborted();
  if (scheme !== "https") return getOverHttp1(connectPlain({ host, port }), text, limits);
  const socket = await secured(host, port, limits.signal);
  if (socket.alpnProtocol !== "h2") return getOverHttp1(socket, text, limits);
  const { getOverHttp2 } = await import("./get-over-http2.js");
  return getOverHttp2(socket, request, limits);
}

function getOverHttp1(socket: Socket, text: string, { bodyBytes, signal }: GetLimits): Promise<WholeReply> {
  return new Promise((resolve, reject) => {
    const reader = new ReplyReader({ bodyBytes, fields: USED_FIELDS });
    const settle = (outcome: () => void): void => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      outcome();
    };
    const fail = (error: unknown): void => settle(() => reject(new GetOnceError(messageOf(error), { cause: error })));
    const onAbort = (): void => settle(() => reject(signal.reason as Error));
    const read = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        if (!(error instanceof ReplyError)) throw error;
        fail(error);
        return;
      }
      const { head } = reader;
      if (head !== undefined && reader.isComplete) settle(() => resolve({ head, body: reader.body() }));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    socket.on("error", fail);
    socket.on("data", (piece: Buffer) => read(() => reader.feed(piece)));
    socket.on("end", () => read(() => reader.end()));
    socket.write(text, "latin1");
  });
}

/** A connection whose handshake is complete: the server has chosen the protocol. */
function secured(host: string, port: number, signal: AbortSignal): Promise<TLSSocket> {
  const isHttp2Off = (process.env["GODEBUG"] ?? "").split(",").includes("http2client=0");
  return new Promise((resolve, reject) => {
    const socket = limitedTls(connectPlain({ host, port }), {
      ...verifyingClientTls(),
      host,
      ALPNProtocols: isHttp2Off ? undefined : ["h2", "http/1.1"],
      servername: isIP(host) === 0 ? host : undefined,
    });
    const settle = (outcome: () => void): void => {
      signal.removeEventListener("abort", onAbort);
      socket.off("secureConnect", onSecure);
      outcome();
    };
    const fail = (reason: Error): void => {
      settle(() => reject(reason));
      socket.destroy();
    };
    const onAbort = (): void => fail(signal.reason as Error);
    const onSecure = (): void => settle(() => resolve(socket));
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("secureConnect", onSecure);
    // Stays: the next reader of the socket has its own listener, and an error without any would end the process.
    socket.on("error", (error) => fail(new GetOnceError(messageOf(error), { cause: error })));
  });
}
