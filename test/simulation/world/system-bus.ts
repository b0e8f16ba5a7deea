// The system bus of the simulated machine: one service answers all calls, and its signals reach all connections.
// Invariant: a connection gets replies and signals in the order in which they were sent.

import { kernel } from "../kernel/kernel.js";
import type { Owner } from "../kernel/owner.js";
import { network } from "./network.js";

const BUS_SOCKET = "/run/dbus/system_bus_socket";
export const BUS_NAME = "org.freedesktop.DBus";
/** The type of a message that is a signal. */
const SIGNAL = 4;
const MOST_ANSWER_MS = 3;

/** A line of JSON on the socket. */
export interface BusMessage {
  type?: number;
  serial?: number;
  replySerial?: number;
  error?: { name: string; message: string };
  sender?: string;
  interface?: string;
  member?: string;
  body?: unknown[];
}

interface Connection {
  owner: Owner;
  /** It has asked for signals. */
  isSubscribed: boolean;
  /** When its last message arrives. */
  lastAt: number;
  send(line: string): void;
  end(): void;
}

/** Performs a call and returns the values of its reply. */
type Service = (call: BusMessage) => unknown[];

export class SystemBus {
  private connections: Connection[] = [];
  private close: () => void = () => undefined;
  private lateMs = 0;

  constructor(private readonly service: Service) {
    this.open();
  }

  /** All connections end, and new ones are refused for `ms`. */
  away(ms: number): void {
    this.close();
    for (const connection of this.connections) connection.end();
    this.connections = [];
    kernel.after(kernel.world, ms, () => this.open());
  }

  /** Replies and signals take longer for `ms`. */
  slow(lateMs: number, ms: number): void {
    this.lateMs = lateMs;
    kernel.after(kernel.world, ms, () => {
      this.lateMs = 0;
    });
  }

  signal(message: BusMessage): void {
    this.connections = this.connections.filter(({ owner }) => owner.isAlive);
    for (const connection of this.connections)
      if (connection.isSubscribed) this.send(connection, { type: SIGNAL, ...message });
  }

  private open(): void {
    this.close();
    this.close = network.listen(BUS_SOCKET, (client) => {
      const connection: Connection = {
        owner: kernel.current,
        isSubscribed: false,
        lastAt: 0,
        send: (line) => client.receive(Buffer.from(line)),
        end: () => client.end(),
      };
      this.connections.push(connection);
      return (bytes) => {
        for (const line of bytes.toString().trimEnd().split("\n"))
          this.answer(connection, JSON.parse(line) as BusMessage);
      };
    });
  }

  private answer(connection: Connection, call: BusMessage): void {
    if (!this.connections.includes(connection)) return;
    if (call.member === "AddMatch") connection.isSubscribed = true;
    const { serial = 0 } = call;
    this.send(connection, { replySerial: serial, body: this.service(call) });
  }

  private send(connection: Connection, message: BusMessage): void {
    const at = kernel.monotonic + kernel.random.between(0.1, MOST_ANSWER_MS) + this.lateMs;
    connection.lastAt = Math.max(connection.lastAt, at);
    const { lastAt } = connection;
    kernel.after(kernel.world, lastAt - kernel.monotonic, () => {
      if (this.connections.includes(connection)) connection.send(`${JSON.stringify(message)}\n`);
    });
  }
}
