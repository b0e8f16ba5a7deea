// What all readers together may hold at once: connections, requests, watches, logs, bytes of responses that they have
// not read, and time of the thread. The rest is left to administrators and the kubelet.
// Invariant: a place is given back when its request, or its connection, has ended.

import type { Socket } from "node:net";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { LoopShare } from "../../../shared/base/turns/loop-share.js";
import { tooManyRequests } from "../objects/errors.js";

export const READER_SHARE = {
  /** Connections with an authorised request, of the 1024 of the port. */
  connections: 256,
  /** Requests whose response the client has not taken. */
  requests: 64,
  /** The server has 512. */
  watches: 128,
  /** Logs that are read or followed: each has one of the 128 connections of the admin socket. */
  logs: 32,
  /** Bytes of responses that wait for their clients; the next response is made below it. */
  unsent: 32 * 1024 * 1024,
} as const;

export type Place = "requests" | "watches" | "logs";

/**
 * Requests of one HTTP/2 connection at once, after its first: every one costs time before it is refused. Those before
 * are bounded by the processor time of clients without an authorised request (docs/adr/0074).
 */
export const READER_STREAMS = 16;
/** Refused requests of one connection, which closes with the last. @internal */
export const READER_REFUSALS = 16;

const COUNTED = Symbol("nodelet.apiserver.reader");
const REFUSED = Symbol("nodelet.apiserver.refused");

type Connection = Pick<Socket, "once" | "destroyed"> & { [COUNTED]?: boolean; [REFUSED]?: number };

export class ReaderShare {
  readonly #held = { connections: 0, requests: 0, watches: 0, logs: 0, unsent: 0 };
  readonly #loop: LoopShare;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#loop = new LoopShare(clock);
  }

  /**
   * Await it directly before the work for a request: the requests of others are served in between, however many readers
   * send lists.
   */
  turn(): Promise<void> {
    return this.#loop.turn();
  }

  /** A request of this connection was refused. @returns whether its connection is to be closed */
  refuse(socket: Connection): boolean {
    const refused = (socket[REFUSED] ?? 0) + 1;
    socket[REFUSED] = refused;
    return refused >= READER_REFUSALS;
  }

  /**
   * @param ended when the client has its response, or is gone
   * @throws ApiError when the readers have all that they may have
   */
  enter(socket: Connection, place: Place, ended: AbortSignal): void {
    // HTTP/2's proxy of a socket passes reads and writes of members on, and nothing else.
    const isNew = socket[COUNTED] !== true;
    if (isNew) this.#check("connections");
    this.#check(place);
    this.checkUnsent();
    if (isNew && !socket.destroyed) {
      socket[COUNTED] = true;
      this.#held.connections++;
      socket.once("close", () => this.#held.connections--);
    }
    this.#hold(place, 1, ended);
  }

  /** Before a response is made: it may be large. @throws ApiError */
  checkUnsent(): void {
    this.#check("unsent");
  }

  /** Bytes of a response that is about to be sent. */
  sending(bytes: number, ended: AbortSignal): void {
    this.#hold("unsent", bytes, ended);
  }

  #check(what: keyof typeof READER_SHARE): void {
    if (this.#held[what] < READER_SHARE[what]) return;
    throw tooManyRequests(`readers have ${READER_SHARE[what]} ${what === "unsent" ? "unsent bytes" : what} already`, 1);
  }

  #hold(what: Place | "unsent", count: number, ended: AbortSignal): void {
    if (ended.aborted) return;
    this.#held[what] += count;
    ended.addEventListener("abort", () => (this.#held[what] -= count), { once: true });
  }
}
