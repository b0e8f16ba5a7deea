// Bytes of the API server that bring no call further: frames of HTTP/2 without a purpose (PING, WINDOW_UPDATE, unknown
// ones), interim responses, DATA of single bytes. Each is cheap, and together they take all of the thread's time.
// Invariant: a connection has a budget of them; bodies, each response and each second earn more.

/** Thirty thousand of the smallest frames: 50 ms of the thread. */
export const MAX_IDLE_BYTES = 256 * 1024;
/** Head and trailers of one response. */
const RESPONSE_BYTES = 16 * 1024;
const BYTES_PER_SECOND = 16 * 1024;
/** Frames around a small event of a watch are as large as the event. */
const BYTES_AROUND = 2;

/** Counts of a connection since it began. */
export interface ReceivedBytes {
  receivedBytes(): number;
  /** The bytes of all bodies. The count may begin again from 0. */
  dataBytes(): number;
}

export class FloodGuard {
  private idle = 0;
  private received = 0;
  private data = 0;

  constructor(private readonly bytes: ReceivedBytes) {}

  responded(): void {
    this.idle -= RESPONSE_BYTES;
  }

  /** Whether what came since the last call, so many seconds ago, has used up the budget. */
  isFlooded(seconds: number): boolean {
    const [received, data] = [this.bytes.receivedBytes(), this.bytes.dataBytes()];
    const isNewCount = data < this.data;
    if (!isNewCount) this.idle += received - this.received - (data - this.data) * BYTES_AROUND;
    this.received = received;
    this.data = data;
    this.idle = Math.max(0, this.idle - seconds * BYTES_PER_SECOND);
    return this.idle > MAX_IDLE_BYTES;
  }
}
