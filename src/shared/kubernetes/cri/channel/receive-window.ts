// How many bytes we allow the peer to send: on one stream, or on the connection.

/** Bytes that a response may bring before they are read, on its stream. */
export const STREAM_WINDOW = 1024 * 1024;

/** Given back at once: the windows of the streams bound the bytes in memory. */
export const CONNECTION_WINDOW = 1024 * 1024;

export class ReceiveWindow {
  readonly #size: number;
  readonly #update: (increment: number) => void;
  #left: number;
  /** Read, and not yet given back. */
  #read = 0;

  /** @param update tells the peer; called when half of the window was read */
  constructor(size: number, update: (increment: number) => void) {
    this.#size = size;
    this.#left = size;
    this.#update = update;
  }

  /** False: the peer sent more than it may. */
  take(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  giveBack(bytes: number): void {
    this.#read += bytes;
    if (this.#read * 2 < this.#size) return;
    this.#left += this.#read;
    this.#update(this.#read);
    this.#read = 0;
  }
}
