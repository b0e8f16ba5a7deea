// A streaming server as a lying runtime names it for an exec: it does not respond, or answers without end. Invariant:
// each connection gets a bounded number of bytes, and all of them end with the server.

import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { sleep } from "../../tools/standalone/wait.js";

const MOST_BYTES = 128 * 1024 * 1024;
const PIECE = Buffer.alloc(256 * 1024, "x");
const UPGRADED =
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n" +
  "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n";
/** Bytes that are sent first, and bytes that are repeated without end. Undefined: none. */
const WAYS = [undefined, { head: UPGRADED, piece: PIECE }, { head: "HTTP/1.1 101 X\r\nX-Endless: ", piece: PIECE }];

export class EndlessStreams {
  /** Connections that came. */
  connections = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on("connection", (socket: Socket) => {
      this.sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => this.sockets.delete(socket));
      socket.resume();
      const way = WAYS[this.connections++ % WAYS.length];
      if (way !== undefined) void pour(socket, way.head, way.piece);
    });
  }

  static async start(): Promise<EndlessStreams> {
    const streams = new EndlessStreams(createServer());
    streams.server.listen(0, "127.0.0.1");
    await once(streams.server, "listening");
    return streams;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/exec/endless`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }
}

async function pour(socket: Socket, head: string, piece: Buffer): Promise<void> {
  socket.write(head);
  for (let sent = 0; sent < MOST_BYTES && !socket.destroyed; sent += piece.length) {
    if (!socket.write(piece)) await Promise.race([once(socket, "drain").catch(() => undefined), sleep(200)]);
    await sleep(1);
  }
}
