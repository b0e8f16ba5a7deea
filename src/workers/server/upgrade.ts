// Answers an upgrade request with an ordinary response. Node passes such a request with a bare socket.
import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../shared/clock/clock.js";
import type { Lookup } from "./entry.js";

export function answerUpgrade(
  handler: Lookup,
  { lingerMs, clock }: { lingerMs: number; clock: Clock },
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => {
    response.detachSocket(socket);
    socket.end();
    // Further bytes of the client are read and dropped. Unread bytes would hide the client's end, and would reset a
    // response that it has not read yet.
    socket.resume();
    const late = clock.after(lingerMs, () => socket.destroy());
    socket.once("close", () => late.cancel());
  });
  handler(request, response, {
    socket,
    head,
    take: () => response.detachSocket(socket),
  });
}
