// One client of the status page: server-sent events that keep a map in the browser equal to a feed.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
// Invariant: it holds no queue. A slow reader gets the difference to the newest state once the reader has taken
// the bytes before; a reader that takes nothing for STALLED_MS is disconnected.

import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { HEARTBEAT_MS } from "../../../shared/contracts/status-page.js";
import type { Feed } from "./feed.js";

/** A reader that has not taken a byte for so long is disconnected. */
const STALLED_MS = 30_000;
/** The browser connects again then, and its rights are checked again. */
const LONGEST_MS = 10 * 60_000;
const CHECK_MS = 2000;
/** Characters of one message. */
const MESSAGE = 64 * 1024;

export class LiveStream {
  private readonly sent = new Map<string, string>();
  private readonly startedAt: number;
  private readonly timer: Timer;
  private readonly leave: () => void;
  private wroteAt: number;
  private full = false;
  private closed = false;

  constructor(
    private readonly response: ServerResponse,
    private readonly feed: Feed,
    private readonly clock: Clock,
    private readonly onClosed: () => void,
  ) {
    this.startedAt = this.wroteAt = clock.monotonic();
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.flushHeaders();
    response.on("drain", this.drained);
    this.timer = clock.every(CHECK_MS, () => this.check()).unref();
    this.leave = feed.join(() => this.pump());
    // Registered last: a response that is already closed ends the work begun above.
    response.once("close", () => this.close());
    if (response.destroyed) this.close();
  }

  private readonly drained = (): void => {
    this.full = false;
    this.wroteAt = this.clock.monotonic();
    this.pump();
  };

  /** Sends the differences from the client's state, until its connection is full. */
  private pump(): void {
    if (this.full || this.closed) return;
    const now = new Map(this.feed.all());
    let pieces: string[] = [];
    let size = 0;
    const flush = (): void => {
      if (pieces.length > 0) this.write(`data:[${pieces.join(",")}]\n\n`);
      pieces = [];
      size = 0;
    };
    const put = (key: string, text: string): void => {
      const piece = `[${JSON.stringify(key)},${text}]`;
      pieces.push(piece);
      size += piece.length;
      if (size >= MESSAGE) flush();
    };
    for (const key of this.sent.keys()) {
      if (now.has(key)) continue;
      this.sent.delete(key);
      put(key, "null");
    }
    for (const [key, text] of now) {
      if (this.isFull()) return;
      if (this.sent.get(key) === text) continue;
      this.sent.set(key, text);
      put(key, text);
    }
    flush();
  }

  private isFull(): boolean {
    return this.full;
  }

  private write(text: string): void {
    this.wroteAt = this.clock.monotonic();
    if (!this.response.write(text)) this.full = true;
  }

  private check(): void {
    const now = this.clock.monotonic();
    if (this.full && now - this.wroteAt >= STALLED_MS) this.response.destroy();
    else if (!this.full && now - this.startedAt >= LONGEST_MS) this.response.end();
    else if (!this.full && now - this.wroteAt >= HEARTBEAT_MS) this.write("data:[]\n\n");
  }

  private close(): void {
    if (this.closed) return;
    this.closed = true;
    this.timer.cancel();
    this.response.off("drain", this.drained);
    this.leave();
    this.sent.clear();
    this.onClosed();
  }
}
