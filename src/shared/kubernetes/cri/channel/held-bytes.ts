// How many bytes of replies the calls of a channel hold together: parts of messages, unread messages, and
// those of calls that have not ended. A runtime may answer any number of calls at once and end none.
// Invariant: beyond the limit the call that holds most ends, and no other. So small replies pass beside large ones.

/** Three messages of the largest size: both lists of a relist, and the replies beside them. */
export const MAX_HELD_BYTES = 48 * 1024 * 1024;

export interface Holder {
  /** The call ends, and holds nothing afterwards. */
  endOverLimit(held: number, most: number): void;
}

export class HeldBytes {
  readonly #most: number;
  readonly #holders = new Map<Holder, number>();
  #sum = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get sum(): number {
    return this.#sum;
  }

  /** Those that hold something. */
  get calls(): number {
    return this.#holders.size;
  }

  /** The call holds this many bytes now. It may end by it. */
  set(holder: Holder, bytes: number): void {
    this.#sum += bytes - (this.#holders.get(holder) ?? 0);
    if (bytes === 0) this.#holders.delete(holder);
    else this.#holders.set(holder, bytes);
    if (this.#sum > this.#most) this.#endLargest();
  }

  #endLargest(): void {
    let largest: Holder | undefined;
    let most = 0;
    for (const [holder, bytes] of this.#holders) {
      if (bytes <= most) continue;
      largest = holder;
      most = bytes;
    }
    largest?.endOverLimit(this.#sum, this.#most);
  }
}
