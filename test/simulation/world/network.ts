// Who listens at which address of the simulated network.

/** The client's end of a connection. */
interface ClientEnd {
  receive(bytes: Buffer): void;
  end(): void;
}

/** Accepts a connection; returns what takes the client's bytes. */
export type Accept = (client: ClientEnd) => (bytes: Buffer) => void;

class Network {
  private readonly listeners = new Map<string, Accept>();
  /** Asked for addresses without a listener of their own. */
  fallback: ((where: string) => Accept | undefined) | undefined;

  /** "10.88.0.2:80", or the path of a socket. */
  listen(where: string, accept: Accept): () => void {
    this.listeners.set(where, accept);
    return () => void this.listeners.delete(where);
  }
  listenerAt(where: string): Accept | undefined {
    return this.listeners.get(where) ?? this.fallback?.(where);
  }
}

export const network = new Network();
