// portForward through a WebSocket. Its messages carry, in pieces of any size, the bytes of the client's SPDY
// connection with the runtime. They are unwrapped and wrapped; the SPDY in them is not looked at.

import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { faultPoint } from "../../../shared/base/faults/fault-points.js";
import { ownedBy } from "../clients/owned.js";
import type { StartCopying, Passthrough } from "./passage.js";
import { chosenProtocol, spdyHeaders } from "./spdy/upgrade.js";
import { CLOSE_CODE } from "./websocket/close-codes.js";
import { checkHandshake } from "./websocket/handshake.js";
import { TUNNEL_PREFIX } from "./websocket/offer.js";
import { WebSocketEnd } from "./websocket/web-socket.js";

/**
 * @param protocols the SPDY protocols that the client offers
 * @throws HandshakeError
 */
export function tunnelledPortForward(
  request: IncomingMessage,
  protocols: readonly string[],
  clock: Clock,
): Passthrough {
  checkHandshake(request);
  return {
    method: "POST",
    headers: spdyHeaders(request, protocols),
    switched: (reply) => {
      const chosen = chosenProtocol(reply);
      return tunnel(request, chosen === "" ? "" : `${TUNNEL_PREFIX}${chosen}`, clock);
    },
  };
}

function tunnel(request: IncomingMessage, protocol: string, clock: Clock): StartCopying {
  return ({ client, runtime }, heads) => {
    const end: WebSocketEnd = new WebSocketEnd(client, {
      text: false,
      clock,
      events: {
        onMessage: (part) => {
          if (part.length > 0 && runtime.writable && !runtime.write(part)) end.pause();
        },
        onEnd: () => runtime.end(),
        onDrain: () => runtime.resume(),
      },
    });
    const send = (part: Buffer): void => {
      if (!end.send(part)) runtime.pause();
    };
    const close = (): void => end.close(CLOSE_CODE.NORMAL);
    end.open(request, heads.client, protocol);
    const onData = ownedBy(client, (part: Buffer) => {
      faultPoint("runtime-data");
      send(part);
    });
    const onEnd = ownedBy(client, close);
    runtime.on("data", onData).on(
      "drain",
      ownedBy(client, () => end.resume()),
    );
    runtime.once("end", onEnd).once("close", onEnd);
    if (heads.runtime.length > 0) send(heads.runtime);
  };
}
