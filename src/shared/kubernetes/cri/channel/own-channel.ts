// The channel under grpc-js' Client: connects on the first call, keeps one connection, and says in which state it is.
// States follow grpc-js: a failed connection is TRANSIENT_FAILURE until the next one succeeds; a lost one is IDLE.
// Invariants: a call that waits is opened, failed or withdrawn. Without calls and watchers nothing is tried again.

import { connectivityState as STATE, type Deadline } from "@grpc/grpc-js";
import type { Clock, Timer } from "../../../base/clock/clock.js";
import { messageOf } from "../../../base/errors/thrown.js";
import { Backoff } from "../../../base/turns/backoff.js";
import { Connection } from "./connection.js";
import { ConnectionError } from "./frames/http2-errors.js";
import { HeldBytes, MAX_HELD_BYTES } from "./held-bytes.js";
import { OwnCall, type CallHost, type GrpcChannel } from "./own-call.js";
import { RequestFields } from "./request-fields.js";
import { StateWatchers } from "./state-watchers.js";

/** Pauses between attempts to connect, as those of grpc-js' channel. */
const BACKOFF = { initialMs: 100, maxMs: 3000, factor: 1.6 };

/** Time for connecting and the peer's first frame. */
const CONNECT_MS = 20_000;

export interface OwnChannelOptions {
  /** Path of the runtime's unix socket. */
  readonly path: string;
  /** Most bytes of one message that the peer sends. */
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  /** The peer broke HTTP/2: its connection and the calls on it are lost. */
  readonly onProtocolError: (error: ConnectionError) => void;
}

export class OwnChannel implements GrpcChannel, CallHost {
  readonly clock: Clock;
  readonly fields = new RequestFields();
  readonly held = new HeldBytes(MAX_HELD_BYTES);
  readonly maxMessageBytes: number;
  readonly peer: string;
  readonly #path: string;
  readonly #onProtocolError: (error: ConnectionError) => void;
  readonly #waiting = new Set<OwnCall>();
  readonly #watchers: StateWatchers;
  /** Those that end when their calls have ended, too. */
  readonly #connections = new Set<Connection>();
  #current: Connection | undefined;
  #state = STATE.IDLE;
  #number = 0;
  readonly #backoff = new Backoff(BACKOFF);
  #pause: Timer | undefined;
  #connecting: Timer | undefined;
  #lastError = "";

  constructor({ path, maxMessageBytes, clock, onProtocolError }: OwnChannelOptions) {
    this.#path = path;
    this.#onProtocolError = onProtocolError;
    this.peer = `unix:${path}`;
    this.maxMessageBytes = maxMessageBytes;
    this.clock = clock;
    this.#watchers = new StateWatchers(clock);
  }

  readonly nextNumber = (): number => this.#number++;

  /** Calls in flight and waiting ones fail. */
  close(): void {
    if (this.#state === STATE.SHUTDOWN) return;
    this.#pause?.cancel();
    this.#connecting?.cancel();
    this.#enter(STATE.SHUTDOWN);
    this.#current = undefined;
    for (const connection of [...this.#connections]) connection.close();
    for (const call of [...this.#waiting]) call.fail("Channel closed before call started");
  }

  getTarget(): string {
    return this.peer;
  }

  getConnectivityState(tryToConnect: boolean): STATE {
    if (tryToConnect) this.#connect();
    return this.#state;
  }

  watchConnectivityState(current: STATE, deadline: Date | number, callback: (error?: Error) => void): void {
    if (this.#state === STATE.SHUTDOWN) throw new Error("Channel has been shut down");
    this.#watchers.add(current, this.#state, deadline, callback);
  }

  getChannelzRef(): never {
    throw new Error("channelz is off");
  }

  createCall(path: string, deadline: Deadline): OwnCall {
    if (this.#state === STATE.SHUTDOWN) throw new Error("Channel has been shut down");
    return new OwnCall(this, path, deadline);
  }

  dispatch(call: OwnCall): void {
    if (this.#current?.hasRoom === true && this.#waiting.size === 0) {
      this.#backoff.reset();
      call.openOn(this.#current);
      return;
    }
    if (this.#state === STATE.SHUTDOWN) {
      call.fail("Channel closed before call started");
      return;
    }
    if (this.#state === STATE.TRANSIENT_FAILURE && !call.waitsForReady) {
      call.fail(this.#lastError);
      return;
    }
    this.#waiting.add(call);
    this.#connect();
  }

  withdraw(call: OwnCall): void {
    this.#waiting.delete(call);
  }

  /** Opens the calls that wait, in their order, as far as the peer has room. */
  #open(): void {
    for (const call of this.#waiting) {
      if (this.#current?.hasRoom !== true) return;
      this.#waiting.delete(call);
      this.#backoff.reset();
      call.openOn(this.#current);
    }
  }

  #connect(): void {
    if (this.#state === STATE.SHUTDOWN || this.#current !== undefined || this.#pause !== undefined) return;
    if (this.#state === STATE.IDLE) this.#enter(STATE.CONNECTING);
    const connection: Connection = new Connection(this.#path, this.clock, {
      onReady: () => this.#onReady(connection),
      onRoom: () => {
        if (connection === this.#current) this.#open();
      },
      onDraining: () => this.#onGone(connection),
      onClosed: (error) => this.#onClosed(connection, error),
    });
    this.#connections.add(connection);
    this.#current = connection;
    this.#connecting = this.clock.after(CONNECT_MS, () => connection.close()).unref();
  }

  #onReady(connection: Connection): void {
    if (connection !== this.#current) return;
    this.#connecting?.cancel();
    this.#enter(STATE.READY);
    this.#open();
  }

  /** It takes no further call. */
  #onGone(connection: Connection): void {
    if (connection !== this.#current) return;
    if (!connection.wasUsed && this.#waiting.size > 0) {
      // Trying again at once would go on for as long as the runtime does so.
      this.#onFailure("the connection was closed before it took a call");
      return;
    }
    this.#current = undefined;
    this.#enter(STATE.IDLE);
    if (this.#waiting.size > 0) this.#connect();
  }

  #onClosed(connection: Connection, error: Error | undefined): void {
    this.#connections.delete(connection);
    const wasCurrent = connection === this.#current;
    if (wasCurrent) this.#connecting?.cancel();
    const reason = error === undefined ? "the connection was closed before the first frame" : messageOf(error);
    if (wasCurrent && !connection.isReady) this.#onFailure(reason);
    else this.#onGone(connection);
    if (error instanceof ConnectionError && this.#state !== STATE.SHUTDOWN) this.#onProtocolError(error);
  }

  #onFailure(reason: string): void {
    this.#current = undefined;
    this.#lastError = `No connection established. Last error: ${reason}. Resolution note: `;
    this.#enter(STATE.TRANSIENT_FAILURE);
    for (const call of [...this.#waiting]) {
      if (!call.waitsForReady) call.fail(this.#lastError);
    }
    this.#pause = this.clock.after(this.#backoff.next(), () => {
      this.#pause = undefined;
      if (this.#waiting.size > 0 || this.#watchers.size > 0) this.#connect();
      else this.#enter(STATE.IDLE);
    });
    if (this.#waiting.size === 0) this.#pause.unref();
  }

  #enter(state: STATE): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#watchers.notify(state);
  }
}
