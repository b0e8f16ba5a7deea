// One GET over HTTP/2 to a server that the operator named, after the handshake of TLS chose it (docs/adr/0107).
// Invariant: the connection ends with the response; body and head are bounded.

import { connect, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2";
import type { TLSSocket } from "node:tls";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { http2ErrorName } from "../../../shared/io/http/client/http2-errors.js";
import { http2Fields } from "../../../shared/io/http/client/http2-fields.js";
import type { GetRequest } from "../../../shared/io/http/client/redirects.js";
import { MAX_HEAD_BYTES, type ReplyHead } from "../../../shared/io/http/client/reply-reader.js";
import { GetOnceError, type GetLimits, type WholeReply } from "./whole-reply.js";

type Head = IncomingHttpHeaders & IncomingHttpStatusHeader;

/** Rejects as getOnce does. */
export async function getOverHttp2(
  socket: TLSSocket,
  request: GetRequest,
  { bodyBytes, signal }: GetLimits,
): Promise<WholeReply> {
  if (signal.aborted) {
    // This file was loaded after the handshake: its time may be over by now.
    socket.destroy();
    throw signal.reason as Error;
  }
  const session = connect(`https://${request.url.host}`, {
    createConnection: () => socket,
    settings: { enablePush: false, maxHeaderListSize: MAX_HEAD_BYTES },
    maxReservedRemoteStreams: 0,
  });
  return await new Promise<WholeReply>((resolve, reject) => {
    const fail = (error: unknown): void => reject(new GetOnceError(messageOf(error), { cause: error }));
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    session.on("error", fail);
    session.on("close", () => fail(new Error("unexpected EOF")));
    // Values of one field are joined by commas; Node's client sends several of some fields only.
    const fields = Object.entries(http2Fields({ ...request, acceptsGzip: true }));
    const call = session.request(
      Object.fromEntries(fields.map(([name, values]) => [name, name === "cookie" ? values : values.join(", ")])),
      { endStream: true },
    );
    let head: Head | undefined;
    const pieces: Buffer[] = [];
    let size = 0;
    const end = (): void => {
      if (head !== undefined) resolve({ head: headOf(head), body: Buffer.concat(pieces).subarray(0, bodyBytes) });
    };
    call.on("response", (fields: Head) => (head = fields));
    call.on("data", (piece: Buffer) => {
      pieces.push(piece);
      size += piece.length;
      if (size >= bodyBytes) end();
    });
    call.on("error", () => undefined);
    // Only the end of the stream tells whether the body ended or was reset.
    call.on("close", () => {
      if (call.rstCode === constants.NGHTTP2_NO_ERROR && head !== undefined) end();
      else fail(new Error(`stream error: ${http2ErrorName(call.rstCode)}`));
    });
  }).finally(() => session.destroy());
}

function headOf(fields: Head): ReplyHead {
  return {
    status: fields[":status"] ?? 0,
    // HTTP/2 has none.
    reason: "",
    field: (name) => {
      const value = fields[name.toLowerCase()];
      return Array.isArray(value) ? value[0] : value;
    },
  };
}
