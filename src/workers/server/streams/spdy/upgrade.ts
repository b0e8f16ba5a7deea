// The SPDY request to the runtime in place of a client's WebSocket, and the runtime's response.

import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { OperatorError } from "../../../../shared/base/errors/operator-error.js";
import { headersFor } from "../passage.js";

const OF_WEBSOCKETS = /^(sec-websocket-.*|upgrade|connection|x-stream-protocol-version)$/;

/** @param protocols for the streams over SPDY, in the order of preference */
export function spdyHeaders(request: IncomingMessage, protocols: readonly string[]): OutgoingHttpHeaders {
  const own = Object.entries(headersFor(request, () => "")).filter(([name]) => !OF_WEBSOCKETS.test(name.toLowerCase()));
  return {
    ...Object.fromEntries(own),
    Connection: "Upgrade",
    Upgrade: "SPDY/3.1",
    "X-Stream-Protocol-Version": [...protocols],
  };
}

/** The protocol the runtime chose; empty: it named none. @throws OperatorError */
export function chosenProtocol({ headers }: IncomingMessage): string {
  const { upgrade = "" } = headers;
  if (!upgrade.toLowerCase().includes("spdy/3.1")) {
    throw new OperatorError(`the request was for SPDY/3.1 and the server switched to ${JSON.stringify(upgrade)}`);
  }
  return String(headers["x-stream-protocol-version"] ?? "").trim();
}
