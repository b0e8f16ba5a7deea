// Connections that wait for their TLS handshake because their network has used up its rate. Before a handshake the
// kubelet cannot distinguish an operator from a flood with the same address. So all connections of one network have
// equal chances. A new connection replaces a random waiting one, and the next handshake is that of a random one.
// Invariant: a client that always has a connection here is served after (places / handshakes per second) on average,
// for a flood of any size. Waiting connections need no cryptography, are bounded, and leave no network without its
// turn.

import type { Socket } from "node:net";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { HandshakeRate } from "./handshake-rate.js";
import { networkOf } from "./network.js";

export interface QueueLimits {
  /** Connections of one network that wait. */
  handshakesWaitingPerAddress: number;
  /** Waiting connections of all networks together. */
  handshakesWaiting: number;
  /** Handshakes per second of networks that have used up their rate, together; they take turns. */
  spareHandshakesPerSecond: number;
  /** Longest wait, milliseconds. */
  handshakeMs: number;
}

export interface HandshakeQueueDeps {
  rate: Pick<HandshakeRate, "admit">;
  limits: QueueLimits;
  clock: Clock;
  /** The connection may begin its handshake; `isSpare`: beyond the rate of its network. */
  start: (socket: Socket, isSpare: boolean) => void;
  /** The connection was closed: another one has its place, or it has waited too long. */
  onRefused: (address: string) => void;
  /** From 0 up to 1; default Math.random. */
  random?: () => number;
}

/** Interval between two selections of handshakes, milliseconds. */
const TURN_MS = 10;
/** Spare handshakes that start together: the thread does other work between the batches. */
const SPARE_AT_ONCE = 4;

interface Waiting {
  readonly socket: Socket;
  readonly address: string;
  readonly since: number;
  readonly leave: () => void;
}

export class HandshakeQueue {
  /** In the order of turns. */
  private readonly networks = new Map<string, Waiting[]>();
  private size = 0;
  private spare = 0;
  private filledAt: number;
  private timer: Timer | undefined;

  constructor(private readonly deps: HandshakeQueueDeps) {
    this.filledAt = deps.clock.monotonic();
  }

  /** The connection begins its handshake now, or waits. */
  admit(socket: Socket): void {
    const { remoteAddress } = socket;
    const network = networkOf(remoteAddress);
    // Otherwise the quickest client of a network would take each new handshake before those that wait.
    if (!this.networks.has(network) && this.deps.rate.admit(remoteAddress)) {
      this.deps.start(socket, false);
    } else if (remoteAddress === undefined || this.deps.limits.handshakesWaitingPerAddress < 1) {
      socket.destroy();
      if (remoteAddress !== undefined) this.deps.onRefused(remoteAddress);
    } else {
      this.add(network, socket, remoteAddress);
    }
  }

  /** A spare handshake has used more processor time than one: fewer begin afterwards. */
  chargeSpare(handshakes: number): void {
    this.spare = Math.max(-this.deps.limits.spareHandshakesPerSecond, this.spare - handshakes);
  }

  endAll(): void {
    this.timer?.cancel();
    this.timer = undefined;
    for (const waiting of [...this.networks.values()].flat()) waiting.socket.destroy();
  }

  private add(network: string, socket: Socket, address: string): void {
    const { limits, clock } = this.deps;
    const neighbours = this.networks.get(network) ?? [];
    if (neighbours.length >= limits.handshakesWaitingPerAddress) this.refuse(this.randomOf(neighbours));
    else if (this.size >= limits.handshakesWaiting) this.refuse(this.randomOf(this.largest()));
    const onClose = (): void => this.remove(network, waiting);
    const onError = (): void => undefined;
    const waiting: Waiting = {
      socket,
      address,
      since: clock.monotonic(),
      leave: () => {
        socket.off("close", onClose).off("error", onError);
        this.remove(network, waiting);
      },
    };
    socket.once("close", onClose).on("error", onError);
    const list = this.networks.get(network);
    if (list === undefined) this.networks.set(network, [waiting]);
    else list.push(waiting);
    this.size++;
    this.timer ??= clock.every(TURN_MS, () => this.turn()).unref();
  }

  private turn(): void {
    const { rate, clock, limits } = this.deps;
    const now = clock.monotonic();
    const gained = ((now - this.filledAt) * limits.spareHandshakesPerSecond) / 1000;
    this.spare = Math.min(SPARE_AT_ONCE, this.spare + gained);
    this.filledAt = now;
    for (const network of [...this.networks.keys()]) this.own(network, now, rate);
    while (this.spare >= 1 && this.startSpare()) this.spare -= 1;
    if (this.size > 0) return;
    this.timer?.cancel();
    this.timer = undefined;
  }

  /** Starts the handshakes that the rate of the network itself allows. */
  private own(network: string, now: number, rate: Pick<HandshakeRate, "admit">): void {
    for (const waiting of [...(this.networks.get(network) ?? [])]) {
      if (now - waiting.since >= this.deps.limits.handshakeMs) this.refuse(waiting);
    }
    for (;;) {
      const next = this.readyOf(network);
      if (next === undefined || !rate.admit(next.address)) return;
      this.start(next, false);
    }
  }

  /** @returns false if no connection is ready */
  private startSpare(): boolean {
    for (const [network, list] of this.networks) {
      const next = this.readyOf(network);
      if (next === undefined) continue;
      // The other networks come first now.
      this.networks.delete(network);
      this.networks.set(network, list);
      this.start(next, true);
      return true;
    }
    return false;
  }

  /** A random one that has sent the beginning of its handshake: silent connections use up no handshakes. */
  private readyOf(network: string): Waiting | undefined {
    const ready = (this.networks.get(network) ?? []).filter(({ socket }) => socket.readableLength > 0);
    return this.randomOf(ready);
  }

  private start(waiting: Waiting, isSpare: boolean): void {
    waiting.leave();
    this.deps.start(waiting.socket, isSpare);
  }

  private refuse(waiting: Waiting | undefined): void {
    if (waiting === undefined) return;
    this.remove(networkOf(waiting.address), waiting);
    waiting.socket.destroy();
    this.deps.onRefused(waiting.address);
  }

  private remove(network: string, waiting: Waiting): void {
    const list = this.networks.get(network);
    const at = list?.indexOf(waiting) ?? -1;
    if (list === undefined || at < 0) return;
    list.splice(at, 1);
    this.size--;
    if (list.length === 0) this.networks.delete(network);
  }

  private largest(): readonly Waiting[] {
    let largest: readonly Waiting[] = [];
    for (const list of this.networks.values()) if (list.length > largest.length) largest = list;
    return largest;
  }

  private randomOf(list: readonly Waiting[]): Waiting | undefined {
    return list[Math.floor((this.deps.random ?? Math.random)() * list.length)];
  }
}
