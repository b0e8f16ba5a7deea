// Listens on a unix socket for a gRPC server, and owns the connections. A simulated crash must close the sockets
// without notice; grpc-js's own shutdown would end each stream in order.

import { rm } from "node:fs/promises";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import { ServerCredentials, type Server } from "@grpc/grpc-js";

export class Listener {
  readonly #path: string;
  readonly #sockets = new Set<Socket>();
  #net: NetServer | undefined;
  #grpc: Server | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async start(grpc: Server): Promise<void> {
    if (this.#net !== undefined) throw new Error(`already listening on ${this.#path}`);
    const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
    const net = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      socket.on("error", () => undefined); // a caller that went away
      injector.injectConnection(socket);
    });
    this.#net = net;
    this.#grpc = grpc;
    await rm(this.#path, { force: true });
    await new Promise<void>((resolve, reject) => {
      net.once("error", reject);
      net.listen(this.#path, resolve);
    });
  }

  /** Cuts every connection and stops listening. Does nothing when not listening. */
  async stop(): Promise<void> {
    const [net, grpc] = [this.#net, this.#grpc];
    this.#net = undefined;
    this.#grpc = undefined;
    if (net === undefined) return;
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => net.close(() => resolve()));
    grpc?.forceShutdown();
  }
}
