// Answers an upgrade request with an ordinary response. Node passes such a request with a bare socket.

import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Lookup } from "./entry.js";
import { endAndLinger, type Linger } from "./linger.js";

export function answerUpgrade(
  handler: Lookup,
  linger: Linger,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => {
    response.detachSocket(socket);
    endAndLinger(socket, linger);
  });
  handler(request, response, {
    socket,
    head,
    take: () => response.detachSocket(socket),
  });
}
