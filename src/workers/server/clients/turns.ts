// Requests of one HTTP/1.1 connection are handled one after the other, as Go's server does. Node hands over all that
// arrived together, and an upgrade even while an earlier response is being written.
// Invariant: an upgrade is handled when every earlier response has ended; what waits is bounded, and never outlives its
// connection. A connection with too many requests is closed, and its remaining bytes are not read.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { ownedBy } from "./owned.js";

/** Requests that wait for earlier ones on their connection; no client of the kubelet sends requests ahead. */
const MAX_WAITING = 16;
/** Longest wait of an upgrade for the responses before it, milliseconds. Nothing of its socket is read meanwhile. */
const UPGRADE_WAIT_MS = 10_000;

interface Line {
  current: ServerResponse | undefined;
  readonly waiting: (() => void)[];
  /** Called once, when nothing is in progress and nothing waits. */
  onIdle: (() => void) | undefined;
}

/** The part of Node's HTTP parser that is replaced; Node does not document it. */
interface Parser {
  onIncoming?: () => number;
}

export class Turns {
  private readonly lines = new WeakMap<Socket, Line>();

  constructor(private readonly clock: Clock) {}

  request(request: IncomingMessage, response: ServerResponse, handle: () => void): void {
    const { socket } = request;
    this.enter(socket, () => {
      const line = this.lineOf(socket);
      line.current = response;
      response.once(
        "close",
        ownedBy(socket, () => {
          if (line.current === response) line.current = undefined;
          this.next(socket, line);
        }),
      );
      handle();
    });
  }

  upgrade(socket: Socket, handle: () => void): void {
    const line = this.lineOf(socket);
    if (line.current === undefined) {
      handle();
      return;
    }
    const late = this.clock.after(UPGRADE_WAIT_MS, () => socket.destroy());
    // Node no longer passes this on to the response that is being written.
    const onDrain = ownedBy(socket, () => void line.current?.emit("drain"));
    socket.on("drain", onDrain).once("close", () => late.cancel());
    this.enter(socket, () => {
      late.cancel();
      socket.off("drain", onDrain);
      handle();
    });
  }

  /** The response in progress. */
  currentOf(socket: Socket): ServerResponse | undefined {
    return this.lines.get(socket)?.current;
  }

  /**
   * Calls `then` once all responses of the connection have ended: at once, if none is in progress. A later call
   * replaces an earlier one.
   */
  whenIdle(socket: Socket, then: () => void): void {
    const line = this.lineOf(socket);
    if (line.current === undefined && line.waiting.length === 0) then();
    else line.onIdle = then;
  }

  private enter(socket: Socket, start: () => void): void {
    const line = this.lineOf(socket);
    if (line.current === undefined && line.waiting.length === 0) start();
    else if (line.waiting.length < MAX_WAITING) line.waiting.push(start);
    else {
      dropRequests(socket);
      socket.destroy();
    }
  }

  private next(socket: Socket, line: Line): void {
    if (socket.destroyed || socket.writableEnded) line.waiting.length = 0;
    else line.waiting.shift()?.();
    if (line.current !== undefined || line.waiting.length > 0) return;
    line.onIdle?.();
    line.onIdle = undefined;
  }

  private lineOf(socket: Socket): Line {
    let line = this.lines.get(socket);
    if (line === undefined) this.lines.set(socket, (line = { current: undefined, waiting: [], onIdle: undefined }));
    return line;
  }
}

/**
 * Makes Node ignore further requests in the chunk that it is parsing. A chunk can hold 500 of them, and Node continues
 * even if the socket is destroyed. Each would get a request, a response and, when the socket closes, an error with its
 * stack trace. That takes 100 ms of the thread for one chunk.
 */
function dropRequests(socket: Socket): void {
  const { parser } = socket as { parser?: Parser | null };
  if (parser) parser.onIncoming = () => 0;
}
