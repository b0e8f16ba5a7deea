// The gates of all connections of one server: their turns, the processor time that they use, and the way from a TLS
// socket to its gate.
// Invariant: processor time of a connection counts for its network, and a spare handshake also for the spare ones of
// all.

import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { ClientGate, gateOf } from "./client-gate.js";
import { furtherHandshakes, type HandshakeRate } from "./handshake-rate.js";
import { measureProcessorTime } from "./processor-time.js";
import { ProcessorTurns } from "./processor-turns.js";

/**
 * The first connections run code that is not compiled yet. On a slow machine the first handshake and request of the API
 * server took more than 250 ms.
 */
const COLD_FACTOR = 8;

/** A line of the key log: label, random number of the client, secret. */
const SECRET = /^CLIENT_HANDSHAKE_TRAFFIC_SECRET [0-9a-f]+ ([0-9a-f]+)/;

export interface ClientGatesOptions {
  /**
   * Processor time of a connection until one of its requests is authorised, milliseconds; more before the first
   * authorised request of all.
   */
  limitMs: number;
  /**
   * Processor time of all these connections together until the other work of the thread gets as much time,
   * milliseconds.
   */
  batchMs: number;
  rate: Pick<HandshakeRate, "hasCredit" | "charge">;
  chargeSpare: (handshakes: number) => void;
  clock: Clock;
  onRefused: (address: string, why: string) => void;
}

export class ClientGates {
  private readonly turns: ProcessorTurns;
  /** No request was authorised yet. */
  private isCold = true;

  constructor(private readonly options: ClientGatesOptions) {
    const { clock, batchMs } = options;
    this.turns = new ProcessorTurns({ clock, batchMs, measure: () => measureProcessorTime(clock) });
  }

  /** @param isSpare its handshake is beyond the rate of its network */
  open(socket: Socket, isSpare: boolean): ClientGate {
    const { rate, chargeSpare, onRefused } = this.options;
    const { remoteAddress } = socket;
    let used = 0;
    return new ClientGate(socket, {
      turns: this.turns,
      limitMs: () => this.limitMs,
      hasCredit: () => rate.hasCredit(remoteAddress),
      onUse: (ms) => {
        const before = furtherHandshakes(used);
        const handshakes = furtherHandshakes((used += ms)) - before;
        if (handshakes === 0) return;
        rate.charge(remoteAddress, handshakes);
        if (isSpare) chargeSpare(handshakes);
      },
      onRefused: (why) => onRefused(remoteAddress ?? "", why),
    });
  }

  /** Node's event "keylog". It never leaves the process. */
  onKeyLog(line: Buffer, socket: TLSSocket): void {
    const [, secret] = SECRET.exec(line.toString("latin1")) ?? [];
    if (secret !== undefined) this.current?.setSecret(socket.getCipher().name, Buffer.from(secret, "hex"));
  }

  /** Its handshake is done. False: the connection was closed meanwhile. */
  secured(socket: TLSSocket): boolean {
    const gate = this.current;
    gate?.secured(socket);
    return gate !== undefined;
  }

  /** A request of this connection was authorised. */
  release(socket: object): void {
    this.isCold = false;
    gateOf(socket)?.release();
  }

  private get limitMs(): number {
    return this.options.limitMs * (this.isCold ? COLD_FACTOR : 1);
  }

  /** Events of TLS arise while the record that causes them is handled. */
  private get current(): ClientGate | undefined {
    const { current } = this.turns;
    return current instanceof ClientGate ? current : undefined;
  }
}
