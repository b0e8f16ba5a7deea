// How many bytes the peer allows us to send.

import { LARGEST_WINDOW } from "./frames/frame-types.js";

export class SendWindow {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Negative after the peer lowered its setting. */
  get left(): number {
    return this.#left;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }

  /** False: the window would be larger than the protocol allows. */
  grow(bytes: number): boolean {
    this.#left += bytes;
    return this.#left <= LARGEST_WINDOW;
  }
}
