// A server that sends a beginning to each client, and then the same bytes again as long as the client reads.

import { createServer, type Server, type Socket } from "node:net";

/** Far above what any client of a health check reads. */
const MOST_BYTES = 64 * 1024 * 1024;

export interface Flood {
  first: Buffer;
  again?: Buffer;
}

/** Sends to one client. Returns the bytes that its socket has taken so far. */
export function flood(socket: Socket, { first, again }: Flood): () => number {
  let sent = first.length;
  const repeat = (): void => {
    if (again === undefined || socket.destroyed || sent > MOST_BYTES) return;
    sent += again.length;
    if (socket.write(again)) setImmediate(repeat);
    else socket.once("drain", repeat);
  };
  socket.on("error", () => undefined);
  socket.resume();
  socket.write(first, repeat);
  return () => sent;
}

/** `sent` counts the bytes that the clients' sockets took. */
export function floodingServer(bytes: Flood): { server: Server; sent: () => number } {
  const counts: (() => number)[] = [];
  const server = createServer((socket) => {
    counts.push(flood(socket, bytes));
  });
  return { server, sent: () => counts.reduce((sum, count) => sum + count(), 0) };
}
