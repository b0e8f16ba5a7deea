// A TCP connection of the simulated machine: two directions of bytes, each with a buffer that its writer can fill.
// Invariant: bytes come in their order. The end of a direction, also a reset, comes after all bytes before it.

import { kernel } from "../kernel/kernel.js";

/** Bytes that were written and not read, from which on a writer waits. */
const CAPACITY = 8 * 1024;
/** One way, ms. */
const LEAST_MS = 0.02;
const MOST_MS = 1;
/** A read gets less than has arrived. */
const PART_SHARE = 0.3;

export type Received = Buffer | "end" | "reset";

class Direction {
  /** The reader has closed its end, and bytes came after that. */
  onRefused: () => void = () => undefined;
  private readonly arrived: Buffer[] = [];
  private readonly writers: ((error?: Error) => void)[] = [];
  private reader: ((received: Received) => void) | undefined;
  private unread = 0;
  /** Bytes of one write come at one moment. */
  private packet: { readonly sentAt: number; readonly parts: Buffer[] } | undefined;
  private lastAt = 0;
  private ending: "end" | "reset" | undefined;
  private hasArrivedEnd = false;
  /** Nothing is read any more. */
  isClosed = false;
  private isRefused = false;

  /** `done`: further bytes may be written. */
  write(bytes: Buffer, done: (error?: Error) => void): void {
    if (this.isRefused || this.ending !== undefined) {
      done(refusal());
      return;
    }
    this.unread += bytes.length;
    this.send(bytes);
    if (this.unread <= CAPACITY) done();
    else this.writers.push(done);
  }

  /** No byte follows the written ones. */
  end(how: "end" | "reset"): void {
    if (this.ending !== undefined) return;
    this.ending = how;
    this.later(() => {
      this.hasArrivedEnd = true;
      this.serve();
    });
  }

  /** Gets what has arrived, as soon as there is something: once. */
  read(reader: (received: Received) => void): void {
    this.reader = reader;
    this.serve();
  }

  /** Nothing is read any more. @returns whether bytes were left */
  close(): boolean {
    const isLeft = this.arrived.length > 0;
    this.isClosed = true;
    this.reader = undefined;
    this.arrived.length = 0;
    return isLeft;
  }

  private send(bytes: Buffer): void {
    if (this.packet?.sentAt === kernel.monotonic) {
      this.packet.parts.push(bytes);
      return;
    }
    const packet = (this.packet = { sentAt: kernel.monotonic, parts: [bytes] });
    this.later(() => {
      if (this.packet === packet) this.packet = undefined;
      this.arrive(Buffer.concat(packet.parts));
    });
  }

  private arrive(bytes: Buffer): void {
    if (this.isClosed) {
      if (this.isRefused) return;
      this.isRefused = true;
      for (const done of this.writers.splice(0)) done(refusal());
      this.onRefused();
      return;
    }
    this.arrived.push(bytes);
    this.serve();
  }

  private serve(): void {
    const { reader } = this;
    if (reader === undefined) return;
    const all = Buffer.concat(this.arrived.splice(0));
    if (all.length === 0) {
      if (!this.hasArrivedEnd || this.ending === undefined) return;
      this.reader = undefined;
      reader(this.ending);
      return;
    }
    const length = kernel.random.chance(PART_SHARE) ? 1 + kernel.random.below(all.length) : all.length;
    if (length < all.length) this.arrived.push(all.subarray(length));
    this.unread -= length;
    this.reader = undefined;
    reader(all.subarray(0, length));
    if (this.unread <= CAPACITY) for (const done of this.writers.splice(0)) done();
  }

  private later(fn: () => void): void {
    this.lastAt = Math.max(this.lastAt, kernel.monotonic + kernel.random.between(LEAST_MS, MOST_MS));
    kernel.after(kernel.world, this.lastAt - kernel.monotonic, fn);
  }
}

function refusal(): Error {
  return Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write" });
}

/** One end of a connection. */
export interface ConnectionEnd {
  readonly incoming: Direction;
  readonly outgoing: Direction;
}

/** @returns the ends of a new connection: the client's and the server's */
export function newConnection(): [ConnectionEnd, ConnectionEnd] {
  const [up, down] = [new Direction(), new Direction()];
  up.onRefused = () => down.end("reset");
  down.onRefused = () => up.end("reset");
  return [
    { incoming: down, outgoing: up },
    { incoming: up, outgoing: down },
  ];
}

/** As close of Linux: a reset where bytes were not read. */
export function closeEnd({ incoming, outgoing }: ConnectionEnd): void {
  outgoing.end(incoming.close() ? "reset" : "end");
}

/** Reads until the end, as the world. False: that is all that the reader wants. `paceMs`: for each piece. */
export function readAll(
  { incoming }: ConnectionEnd,
  paceMs: number,
  onReceived: (received: Received) => boolean,
): void {
  const next = (): void =>
    incoming.read((received) => {
      const isLast = typeof received === "string";
      if (onReceived(received) && !isLast) kernel.after(kernel.world, paceMs, next);
    });
  next();
}
