// One GET over HTTP/2, after the handshake of TLS chose it (docs/adr/0107). Invariant: what the session reads of the
// server is bounded in bytes, frames and processor time.

import {
  connect,
  constants,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from "node:http2";
import type { TLSSocket } from "node:tls";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { OUTPUT_LIMIT_BYTES } from "../../shared/contracts/prober.js";
import { HeaderError } from "../../shared/io/http/client/headers.js";
import { http2ErrorName } from "../../shared/io/http/client/http2-errors.js";
import { http2Fields } from "../../shared/io/http/client/http2-fields.js";
import { HeadLimitError } from "../../shared/io/http/client/reply-error.js";
import { MAX_HEAD_BYTES } from "../../shared/io/http/client/reply-reader.js";
import type { RequestOptions } from "../../shared/io/http/client/request-text.js";
import { FrameCounter } from "./frame-counter.js";
import { FramedStream } from "./framed-stream.js";
import { CONNECTION_BYTES } from "./guarded-source.js";
import { BodyError, ExchangeError, RefusedError, type Head as ReplyHead, type PendingReply } from "./pending-reply.js";

/** What HPACK adds to the length of a field (RFC 7541, section 4.1). */
const FIELD_BYTES = 32;
/** Each field counts FIELD_BYTES at least, so MAX_HEAD_BYTES is the limit that is met. */
const MAX_PAIRS = MAX_HEAD_BYTES / FIELD_BYTES;
/** A client's streams have odd numbers. */
const FIRST_STREAM = 1;

type Head = IncomingHttpHeaders & IncomingHttpStatusHeader;

export interface Http2Request {
  socket: TLSSocket;
  request: RequestOptions;
  reply: PendingReply;
}

export function sendHttp2({ socket, request, reply }: Http2Request): void {
  const frames = new FrameCounter({ bytes: CONNECTION_BYTES, dataFrames: OUTPUT_LIMIT_BYTES });
  const framed = new FramedStream(socket, (piece) => frames.read(piece));
  const session = connect(`https://${request.url.host}`, {
    createConnection: () => framed,
    settings: { enablePush: false, maxHeaderListSize: MAX_HEAD_BYTES },
    maxHeaderListPairs: MAX_PAIRS,
    maxReservedRemoteStreams: 0,
  });
  reply.owns(() => {
    framed.destroy();
    session.destroy();
  });
  if (reply.isSettled) return;
  const ends = new ConnectionEnd(framed);
  framed.on("error", (error) => reply.fail(error));
  session.on("error", (error: Error) => reply.fail(ends.error ?? error));
  session.on("goaway", (code: number, lastStream: number) => {
    ends.goAway(code, lastStream);
    if (lastStream < FIRST_STREAM && code === constants.NGHTTP2_NO_ERROR) reply.settle(new RefusedError(ends.text));
  });
  session.on("close", () => reply.fail(new Error(ends.text)));
  const call = requested(() => session.request(withSingleValues(request), { endStream: true }), reply);
  if (call !== undefined) readReply(call, reply, ends);
}

/** Why the connection ended, if it did, in the words of Go's client. */
class ConnectionEnd {
  private wentAway: string | undefined;

  constructor(private readonly framed: FramedStream) {}

  get text(): string {
    return this.wentAway ?? "unexpected EOF";
  }

  /** Undefined while the connection lasts. */
  get error(): Error | undefined {
    return this.wentAway === undefined && !this.framed.destroyed ? undefined : new Error(this.text);
  }

  goAway(code: number, lastStream: number): void {
    const facts = `LastStreamID=${lastStream}, ErrCode=${http2ErrorName(code)}, debug=""`;
    this.wentAway = `http2: server sent GOAWAY and closed the connection; ${facts}`;
  }
}

/** Undefined when the request cannot be sent; the reply has the reason then. */
function requested(send: () => ClientHttp2Stream, reply: PendingReply): ClientHttp2Stream | undefined {
  try {
    return send();
  } catch (error) {
    const isRefused = error instanceof HeaderError || (errorCode(error) ?? "").startsWith("ERR_");
    if (!isRefused) throw error;
    reply.settle(new ExchangeError(messageOf(error), { cause: error }));
    return undefined;
  }
}

/**
 * Node's client sends several values only of fields that it takes for lists; the others become one (RFC 9110, section
 * 5.3).
 */
function withSingleValues(request: RequestOptions): OutgoingHttpHeaders {
  const fields = http2Fields(request);
  const isList = (name: string): boolean => name === "cookie";
  return Object.fromEntries(
    Object.entries(fields).map(([name, values]) => [name, isList(name) ? values : values.join(", ")]),
  );
}

function readReply(call: ClientHttp2Stream, reply: PendingReply, ends: ConnectionEnd): void {
  let head: Head = {};
  let headBytes = 0;
  const pieces: Buffer[] = [];
  let size = 0;
  const replyHead = (): ReplyHead => ({ status: head[":status"] ?? 0, field: (name) => fieldOf(head, name) });
  const end = (): void => {
    const body = Buffer.concat(pieces).subarray(0, OUTPUT_LIMIT_BYTES).toString("utf8");
    reply.settle({ head: replyHead(), body });
  };
  const count = (fields: readonly string[]): void => {
    headBytes += fields.reduce((sum, text) => sum + text.length + FIELD_BYTES / 2, 0);
    if (headBytes > MAX_HEAD_BYTES) reply.settle(new BodyError(new HeadLimitError(MAX_HEAD_BYTES).message));
  };
  call.on("headers", (_head: Head, _flags: number, raw: readonly string[]) => count(raw));
  call.on("response", (headers: Head, _flags: number, raw: readonly string[]) => {
    head = headers;
    reply.hasHead = true;
    count(raw);
    if (!reply.isSettled && !reply.needsBody(replyHead())) end();
  });
  call.on("data", (piece: Buffer) => {
    pieces.push(piece);
    size += piece.length;
    if (size >= OUTPUT_LIMIT_BYTES) end();
  });
  // Only the end of the stream tells whether the body ended or was reset.
  call.on("error", () => undefined);
  call.on("close", () => {
    const { error } = ends;
    if (reply.hasHead && call.rstCode === constants.NGHTTP2_NO_ERROR) end();
    else if (error !== undefined) reply.fail(error);
    else reply.settle(streamError(call.rstCode, reply));
  });
}

/** The server, or the session on its behalf, ended the stream before the response did. */
function streamError(code: number, reply: PendingReply): Error {
  const text = `stream error: stream ID ${FIRST_STREAM}; ${http2ErrorName(code)}; received from peer`;
  if (reply.hasHead) return new BodyError(text);
  return code === constants.NGHTTP2_REFUSED_STREAM ? new RefusedError(text) : new ExchangeError(text);
}

function fieldOf(head: Head, name: string): string | undefined {
  const value = head[name.toLowerCase()];
  return Array.isArray(value) ? value[0] : value;
}
