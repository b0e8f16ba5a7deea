// Memory of heads of requests, from their first byte until their response has ended. Each connection has a little of
// its own; larger heads, up to Go's 1 MiB, come from a pool that all connections of a port share.
// Invariant: heads of unauthorised clients hold no more than (connections × OWN_BYTES + pool), and one network no more
// than half of the pool.

import type { Socket } from "node:net";
import { networkOf } from "../../clients/network.js";

/** Bytes of heads that one connection may always hold. Tokens fit many times. @internal */
export const OWN_BYTES = 64 * 1024;

export interface PoolLimits {
  /** Bytes of heads beyond what each connection has. */
  pool: number;
  /** How many of these one IPv4 address or IPv6 /64 may hold. */
  poolOfNetwork: number;
}

export class HeadMemory {
  private used = 0;
  private readonly byNetwork = new Map<string, number>();

  constructor(private readonly limits: PoolLimits) {}

  /** The share of one connection. */
  open(socket: Pick<Socket, "remoteAddress">): HeadShare {
    return new HeadShare(this, networkOf(socket.remoteAddress));
  }

  /** @returns false: the pool has not so much left for this network, and nothing has changed */
  take(network: string, bytes: number): boolean {
    const ofNetwork = this.byNetwork.get(network) ?? 0;
    const { pool, poolOfNetwork } = this.limits;
    if (bytes > 0 && (this.used + bytes > pool || ofNetwork + bytes > poolOfNetwork)) return false;
    this.used += bytes;
    if (ofNetwork + bytes === 0) this.byNetwork.delete(network);
    else this.byNetwork.set(network, ofNetwork + bytes);
    return true;
  }
}

/** Heads of one connection: of the requests in progress, and the one that is being read. */
export class HeadShare {
  private inProgress = 0;
  private reading = 0;
  private fromPool = 0;

  constructor(
    private readonly memory: HeadMemory,
    private readonly network: string,
  ) {}

  /** The head that is being read has so many bytes now. @returns false: there is no room for them */
  read(bytes: number): boolean {
    this.reading = bytes;
    return this.resizeShare();
  }

  /** The head is whole. It counts until the result is called. */
  countHead(bytes: number): () => void {
    this.reading = 0;
    this.inProgress += bytes;
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      this.inProgress -= bytes;
      this.resizeShare();
    };
  }

  /** The connection is closed. */
  close(): void {
    this.reading = 0;
    this.inProgress = 0;
    this.resizeShare();
  }

  private resizeShare(): boolean {
    const wanted = Math.max(0, this.inProgress + this.reading - OWN_BYTES);
    if (wanted === this.fromPool) return true;
    if (!this.memory.take(this.network, wanted - this.fromPool)) return false;
    this.fromPool = wanted;
    return true;
  }
}
