// The connection to the runtime. Invariant: no call waits for a reconnect back-off: connecting to a unix socket costs microseconds, so a
// call that finds the connection lost begins another at once.
import { parseEndpoint } from "./endpoint.js";
import { Link } from "./transport/link.js";

export class CriChannel {
  readonly #path: string;
  #link: Link | undefined;
  #closed = false;

  constructor(endpoint: string) {
    this.#path = parseEndpoint(endpoint).path;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The link to make the next call on. */
  acquire(): Link {
    if (this.#link?.isUsable !== true) this.#link = new Link(this.#path);
    return this.#link;
  }

  /** True while the channel has no usable connection. */
  get disconnected(): boolean {
    return this.#link?.isReady !== true;
  }

  close(): void {
    this.#closed = true;
    this.#link?.close();
  }
}
