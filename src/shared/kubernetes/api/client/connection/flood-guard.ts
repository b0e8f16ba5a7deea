// Bytes of the API server that bring no call further: frames of HTTP/2 without a purpose (PING, WINDOW_UPDATE, unknown
// ones), interim responses, DATA of single bytes. Each is cheap, and together they take all of the thread's time.
// Invariant: a connection has a budget of them; bodies, each response and each second earn more.

import type { Clock } from "../../../../base/clock/clock.js";
import { WireError } from "./wire-error.js";

/** Thirty thousand of the smallest frames: 50 ms of the thread. */
export const MAX_IDLE_BYTES = 256 * 1024;
/** Head and trailers of one response. */
const RESPONSE_BYTES = 16 * 1024;
const BYTES_PER_SECOND = 16 * 1024;
/** Frames and TLS records around a small event of a watch are as large as the event. */
const BYTES_AROUND = 2;

export class FloodGuard {
  private idle = 0;
  private data = 0;
  private since: number;

  /** `dataBytes`: of all bodies since the connection began. It may begin again from 0. */
  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly dataBytes: () => number,
    private readonly onFlood: (error: WireError) => void,
  ) {
    this.since = clock.monotonic();
  }

  /** Bytes came over the connection. */
  received(bytes: number): void {
    this.idle += bytes;
    if (this.idle > MAX_IDLE_BYTES) this.check();
  }

  responded(): void {
    this.earn(RESPONSE_BYTES);
  }

  private check(): void {
    const [now, data] = [this.clock.monotonic(), this.dataBytes()];
    this.earn(((now - this.since) * BYTES_PER_SECOND) / 1000);
    this.since = now;
    this.earn(data < this.data ? this.idle : (data - this.data) * BYTES_AROUND);
    this.data = data;
    if (this.idle <= MAX_IDLE_BYTES) return;
    this.onFlood(new WireError(`the server sent ${MAX_IDLE_BYTES / 1024} KiB that bring no call further`));
  }

  private earn(bytes: number): void {
    this.idle = Math.max(0, this.idle - bytes);
  }
}
