// The messages of a streamed reply, read one after the other.
// Invariant: few messages wait for a slow reader; the runtime is held back meanwhile.
import type { Exchange } from "./exchange.js";
import type { CallFailedError } from "./status.js";

/** Messages that wait before the runtime is held back. */
const MOST_WAITING = 64;

export class Incoming implements AsyncIterable<Buffer> {
  private readonly waiting: Buffer[] = [];
  private exchange: Exchange | undefined;
  private ended: { failure: CallFailedError | undefined } | undefined;
  private wake: () => void = () => undefined;

  /** Call once, before the messages are read. */
  from(exchange: Exchange): void {
    this.exchange = exchange;
  }

  message(bytes: Buffer): void {
    if (this.waiting.push(bytes) === MOST_WAITING) this.exchange?.pause();
    this.wake();
  }

  end(failure: CallFailedError | undefined): void {
    this.ended = { failure };
    this.wake();
  }

  /** Messages that came before the end are given before its failure is thrown. @throws CallFailedError */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const next = this.waiting.shift();
      if (next !== undefined) {
        if (this.waiting.length === 0) this.exchange?.resume();
        yield next;
      } else if (this.ended !== undefined) {
        if (this.ended.failure !== undefined) throw this.ended.failure;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    }
  }
}
