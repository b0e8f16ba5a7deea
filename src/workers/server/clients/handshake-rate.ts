// Limit of TLS handshakes per second and network. For clients without credentials, a handshake is the most expensive
// operation: the server thread exchanges keys and signs. A connection that uses more processor time than a handshake
// should counts as several.
// Invariant: a refused connection costs no cryptography. A network with an authorised client has its own, larger rate,
// which unauthorised networks cannot use up. Memory is bounded for any number of addresses.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { networkOf } from "./network.js";

export interface HandshakeLimits {
  /** Handshakes per second of one network, and how many it may start at once. */
  handshakesPerSecond: number;
  handshakeBurst: number;
}

/**
 * Processor time of a connection that counts as its handshake: one takes 1 to 2 ms, and the first ones of a thread
 * several times as long.
 */
const FREE_MS = 5;
/** Each such time beyond it counts as a further handshake, milliseconds. */
const HANDSHAKE_MS = 2;
/**
 * Both figures are multiplied by it for a network with an authorised client: kubectl exec through one API server,
 * scrapers.
 */
const AUTHORISED_FACTOR = 10;
/** A network counts as authorised this long after its last authorised request, milliseconds. */
const AUTHORISED_MS = 10 * 60_000;
/** Number of networks kept, of each kind; the least recently used one is dropped. */
const NETWORKS = 4096;

interface Bucket {
  tokens: number;
  filledAt: number;
}

export class HandshakeRate {
  /** In the order of last use. A network that is forgotten starts with a full bucket. */
  private readonly buckets = new Map<string, Bucket>();
  /** Until when each network counts as authorised, in that order. */
  private readonly authorisedUntil = new Map<string, number>();

  constructor(
    private readonly limits: HandshakeLimits,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {}

  /** False: the network has used up its rate, and its connection is to be closed. */
  admit(address: string | undefined): boolean {
    const { bucket } = this.bucketOf(address);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  /** Its next handshake need not wait. */
  hasCredit(address: string | undefined): boolean {
    return this.bucketOf(address).bucket.tokens >= 1;
  }

  /** A connection has used processor time beyond that of its handshake. A debt is never more than the burst. */
  charge(address: string | undefined, handshakes: number): void {
    const { bucket, burst } = this.bucketOf(address);
    bucket.tokens = Math.max(-burst, bucket.tokens - handshakes);
  }

  /** A request of this address was authorised. */
  authorise(address: string | undefined): void {
    keep(this.authorisedUntil, networkOf(address), this.clock.monotonic() + AUTHORISED_MS);
  }

  private isAuthorised(network: string): boolean {
    const until = this.authorisedUntil.get(network);
    if (until !== undefined && until <= this.clock.monotonic()) this.authorisedUntil.delete(network);
    return this.authorisedUntil.has(network);
  }

  private bucketOf(address: string | undefined): { bucket: Bucket; burst: number } {
    const network = networkOf(address);
    const factor = this.isAuthorised(network) ? AUTHORISED_FACTOR : 1;
    const burst = this.limits.handshakeBurst * factor;
    return { bucket: this.filled(`${factor} ${network}`, factor, burst), burst };
  }

  private filled(key: string, factor: number, burst: number): Bucket {
    const now = this.clock.monotonic();
    const { tokens, filledAt } = this.buckets.get(key) ?? { tokens: burst, filledAt: now };
    const refill = ((now - filledAt) * this.limits.handshakesPerSecond * factor) / 1000;
    const bucket = { tokens: Math.min(burst, tokens + refill), filledAt: now };
    keep(this.buckets, key, bucket);
    return bucket;
  }
}

/** @param usedMs processor time of a connection. @returns what it counts beyond its own handshake, in handshakes */
export function furtherHandshakes(usedMs: number): number {
  return Math.max(0, usedMs - FREE_MS) / HANDSHAKE_MS;
}

function keep<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > NETWORKS && oldest !== undefined) map.delete(oldest);
}
