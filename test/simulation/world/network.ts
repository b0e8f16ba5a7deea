// Who listens at which address of the simulated network.

import { newConnection, type ConnectionEnd } from "./connection.js";

/** The client's end of a connection. */
interface ClientEnd {
  receive(bytes: Buffer): void;
  end(): void;
}

/** Accepts a connection; returns what takes the client's bytes. */
export type Accept = (client: ClientEnd) => (bytes: Buffer) => void;

class Network {
  private readonly listeners = new Map<string, Accept>();
  private readonly servers = new Map<string, (end: ConnectionEnd) => boolean>();
  /** Asked for addresses without a listener of their own. */
  fallback: ((where: string) => Accept | undefined) | undefined;

  /** "10.88.0.2:80", or the path of a socket. */
  listen(where: string, accept: Accept): () => void {
    this.listeners.set(where, accept);
    return () => void this.listeners.delete(where);
  }
  /** Connections have two directions with buffers there. False: the server accepts none. */
  serve(where: string, accept: (end: ConnectionEnd) => boolean): void {
    this.servers.set(where, accept);
  }
  hasServer(where: string): boolean {
    return this.servers.has(where);
  }
  /** @returns the client's end; undefined: the connection was refused */
  connect(where: string): ConnectionEnd | undefined {
    const [client, server] = newConnection();
    return this.servers.get(where)?.(server) === false ? undefined : client;
  }
  listenerAt(where: string): Accept | undefined {
    return this.listeners.get(where) ?? this.fallback?.(where);
  }
}

export const network = new Network();
