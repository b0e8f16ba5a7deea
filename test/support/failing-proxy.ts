// A TCP proxy whose server can stop in the middle of a response, exit and return, like a failing registry.

import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "./free-port.js";

export class FailingProxy {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private allowed = Infinity;

  private constructor(
    private readonly port: number,
    private readonly target: { host: string; port: number },
  ) {}

  /** `target`: "127.0.0.1:5000". */
  static async start(target: string): Promise<FailingProxy> {
    const [host = "", port = ""] = target.split(":");
    const proxy = new FailingProxy(await freePort(), { host, port: Number(port) });
    await proxy.revive();
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** True when the server was cut off. */
  get isSilent(): boolean {
    return this.allowed <= 0;
  }

  /** After so many more bytes of the server no further one comes; connections stay open. */
  silentAfter(bytes: number): void {
    this.allowed = bytes;
  }

  /** Every connection breaks, and new ones are refused. */
  async die(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    for (const socket of this.sockets) socket.destroy();
    if (server === undefined) return;
    server.close();
    await once(server, "close");
  }

  async revive(): Promise<void> {
    this.allowed = Infinity;
    this.server = createServer((client) => this.join(client));
    this.server.listen(this.port, "127.0.0.1");
    await once(this.server, "listening");
  }

  private join(client: Socket): void {
    const upstream = connect(this.target);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(socket);
      // A broken connection is what this is for.
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.sockets.delete(socket);
        other.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (chunk) => {
      const passed = chunk.subarray(0, Math.max(0, this.allowed));
      this.allowed -= chunk.length;
      if (passed.length > 0) client.write(passed);
    });
  }
}
