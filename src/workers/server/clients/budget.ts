// Limit of connections on one listener, and the choice of the connection to close above it. A connection is
// unauthorised until one of its requests was authorised.
// Invariants: unauthorised connections never keep an authorised client out; a new connection ends the oldest of them.
// The connections of one authorised user never keep another one out.

import type { Socket } from "node:net";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { networkOf } from "./network.js";

export interface BudgetLimits {
  /** All connections together. */
  connections: number;
  /** Connections without an authorised request. */
  unauthorised: number;
  /** Unauthorised connections from one IPv4 address or one IPv6 /64 network. */
  unauthorisedPerAddress: number;
  /** Connections of one user with an authorised request. */
  authorisedPerUser: number;
  /** Unauthorised connections with a verified certificate, which have a budget of their own. */
  identified: number;
  /** An unauthorised connection ends after this time, milliseconds; Infinity: never. */
  unauthorisedMs: number;
  /** Refused requests of one unauthorised connection, which closes with the last. */
  refusals: number;
}

type Kind = "unauthorised" | "identified" | "authorised";

interface Entry {
  readonly socket: Socket;
  readonly address: string;
  readonly since: number;
  kind: Kind;
  /** Whose request was authorised first. */
  user: string | undefined;
  refusals: number;
}

export class ConnectionBudget {
  /** By address and port of the client. Maps and sets of one kind are in the order of age. */
  private readonly entries = new Map<string, Entry>();
  private readonly unauthorised = new Set<Entry>();
  private readonly identified = new Set<Entry>();
  private readonly byAddress = new Map<string, Set<Entry>>();
  /** Number of authorised connections. */
  private readonly byUser = new Map<string, number>();
  private timer: Timer | undefined;

  constructor(
    private readonly limits: BudgetLimits,
    private readonly clock: Clock,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  /**
   * False: the connection was closed at once, because all others belong to authorised clients, or the client
   * disconnected.
   */
  admit(socket: Socket): boolean {
    const key = keyOf(socket);
    if (key === undefined || !this.makeRoom(networkOf(socket.remoteAddress))) {
      socket.destroy();
      return false;
    }
    const entry: Entry = {
      socket,
      address: networkOf(socket.remoteAddress),
      since: this.clock.monotonic(),
      kind: "unauthorised",
      user: undefined,
      refusals: 0,
    };
    this.entries.set(key, entry);
    this.addUnauthorised(entry);
    socket.once("close", () => {
      if (this.entries.get(key) === entry) this.entries.delete(key);
      this.leave(entry);
      this.forgetUser(entry);
    });
    const { unauthorisedMs } = this.limits;
    if (unauthorisedMs < Infinity) this.timer ??= this.clock.every(unauthorisedMs / 4, () => this.endOld()).unref();
    return true;
  }

  /** Its certificate is verified; whether it may do anything is not known yet. */
  identify(socket: Socket): void {
    const entry = this.entryOf(socket);
    if (entry?.kind !== "unauthorised") return;
    this.leave(entry);
    entry.kind = "identified";
    this.identified.add(entry);
    if (this.identified.size > this.limits.identified) this.end(first(this.identified));
  }

  /**
   * One of its requests was authorised: it counts for the total, and for its user. @returns false if the user has too
   * many: the connection stays unauthorised, and is to be closed
   */
  authorise(socket: Socket, user: string): boolean {
    const entry = this.entryOf(socket);
    if (entry === undefined || entry.kind === "authorised") return true;
    const others = this.byUser.get(user) ?? 0;
    if (others >= this.limits.authorisedPerUser) return false;
    this.byUser.set(user, others + 1);
    this.leave(entry);
    entry.kind = "authorised";
    entry.user = user;
    return true;
  }

  /** One of its requests was refused. @returns whether its connection is to be closed */
  refuse(socket: Socket): boolean {
    const entry = this.entryOf(socket);
    if (entry === undefined || entry.kind === "authorised") return false;
    return ++entry.refusals >= this.limits.refusals;
  }

  endAll(): void {
    this.timer?.cancel();
    this.timer = undefined;
    for (const { socket } of this.entries.values()) socket.destroy();
  }

  private makeRoom(address: string): boolean {
    const { connections, unauthorised, unauthorisedPerAddress } = this.limits;
    const neighbours = this.byAddress.get(address);
    if (neighbours !== undefined && neighbours.size >= unauthorisedPerAddress) this.end(first(neighbours));
    if (this.unauthorised.size >= unauthorised) this.end(first(this.unauthorised));
    if (this.entries.size < connections) return true;
    const oldest = first(this.unauthorised) ?? first(this.identified);
    this.end(oldest);
    return oldest !== undefined;
  }

  private endOld(): void {
    const before = this.clock.monotonic() - this.limits.unauthorisedMs;
    for (const kind of [this.unauthorised, this.identified]) {
      for (const entry of kind) if (entry.since <= before) this.end(entry);
    }
    if (this.entries.size > 0) return;
    this.timer?.cancel();
    this.timer = undefined;
  }

  private end(entry: Entry | undefined): void {
    if (entry === undefined) return;
    this.leave(entry);
    // Its close event comes later: it must not count until then.
    const key = keyOf(entry.socket);
    if (key !== undefined && this.entries.get(key) === entry) this.entries.delete(key);
    entry.socket.destroy();
  }

  private addUnauthorised(entry: Entry): void {
    this.unauthorised.add(entry);
    const neighbours = this.byAddress.get(entry.address);
    if (neighbours === undefined) this.byAddress.set(entry.address, new Set([entry]));
    else neighbours.add(entry);
  }

  private leave(entry: Entry): void {
    this.identified.delete(entry);
    if (!this.unauthorised.delete(entry)) return;
    const neighbours = this.byAddress.get(entry.address);
    neighbours?.delete(entry);
    if (neighbours?.size === 0) this.byAddress.delete(entry.address);
  }

  private forgetUser({ user }: Entry): void {
    if (user === undefined) return;
    const others = (this.byUser.get(user) ?? 0) - 1;
    if (others > 0) this.byUser.set(user, others);
    else this.byUser.delete(user);
  }

  private entryOf(socket: Socket): Entry | undefined {
    const key = keyOf(socket);
    return key === undefined ? undefined : this.entries.get(key);
  }
}

/** A connection and the TLS that it carries have the same. */
function keyOf({ remoteAddress, remotePort, localAddress }: Socket): string | undefined {
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return `${remoteAddress} ${remotePort} ${localAddress ?? ""}`;
}

function first<T>(entries: ReadonlySet<T>): T | undefined {
  const [entry] = entries;
  return entry;
}
