// The response to what Node's parser refuses, or does not get in time. Node writes one and destroys the socket at once.
// Under TLS the response is lost then if an earlier record, such as a session ticket, is still on its way.
// Source: https://nodejs.org/api/http.html#event-clienterror

import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { endAndLinger, type Linger } from "./linger.js";

/** As Node has them; 400 for all others. */
const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** A listener of `clientError`: a response, unless another one has begun; and the end of the connection. */
export function answerUnreadable(linger: Linger) {
  const answered = new WeakSet<Duplex>();
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    // Further bytes of the client reach the parser, which reports each of them.
    if (answered.has(socket)) return;
    answered.add(socket);
    if (!socket.writable || hasBegun(socket)) {
      socket.destroy(error);
      return;
    }
    const status = STATUS[error.code ?? ""] ?? "400 Bad Request";
    endAndLinger(socket, linger, `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
  };
}

/** Node's own record of the response that is being written to a socket. */
function hasBegun(socket: Duplex & { _httpMessage?: Pick<ServerResponse, "headersSent"> | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}
