// A server that sends a beginning to each client, and then the same bytes again as long as the client reads.
import { createServer, type Server, type Socket } from "node:net";

/** Far above what any client of a health check reads. */
const MOST_BYTES = 64 * 1024 * 1024;

/** `sent` counts the bytes that the clients' sockets took. */
export function floodingServer({ first, again }: { first: Buffer; again?: Buffer }): {
  server: Server;
  sent: () => number;
} {
  let sent = 0;
  const flood = (socket: Socket): void => {
    const repeat = (): void => {
      if (again === undefined || socket.destroyed || sent > MOST_BYTES) return;
      sent += again.length;
      if (socket.write(again)) setImmediate(repeat);
      else socket.once("drain", repeat);
    };
    socket.on("error", () => undefined);
    socket.resume();
    sent += first.length;
    socket.write(first, repeat);
  };
  return { server: createServer(flood), sent: () => sent };
}
