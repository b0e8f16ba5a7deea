// One GET on a connection of its own, to a server that the operator named: certificates are verified. The whole
// response is in memory.

import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { GetRequest } from "../../../shared/io/http/client/redirects.js";
import { ReplyError } from "../../../shared/io/http/client/reply-error.js";
import { ReplyReader, type ReplyHead } from "../../../shared/io/http/client/reply-reader.js";
import { requestText } from "../../../shared/io/http/client/request-text.js";
import { serverOf } from "../../../shared/io/http/client/server-of.js";

/** No response that can be used. */
export class GetOnceError extends Error {
  override readonly name = "GetOnceError";
}

export interface WholeReply {
  head: ReplyHead;
  body: Buffer;
}

/**
 * Rejects with GetOnceError, with HeaderError or UrlError for a request that cannot be sent, or with the signal's
 * reason.
 * @param options.bodyBytes no more of the body is read
 */
export function getOnce(
  request: GetRequest,
  { bodyBytes, signal }: { bodyBytes: number; signal: AbortSignal },
): Promise<WholeReply> {
  const { scheme, host, port } = serverOf(request.url);
  const text = requestText({ ...request, acceptsGzip: true });
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const reader = new ReplyReader({ bodyBytes, fields: ["Location", "Content-Encoding"] });
    const socket = scheme === "https" ? overTls(host, port) : connectPlain({ host, port });
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

function overTls(host: string, port: number): Socket {
  return connectTls({ host, port, servername: isIP(host) === 0 ? host : undefined });
}
