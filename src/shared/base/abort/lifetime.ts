// The life of a part of the kubelet, from its construction to its stop. All work of the part obeys one signal.

import { setMaxListeners } from "node:events";

/** The reason of work that ends because its part stops. It is no failure of that work. */
export class StoppingError extends Error {
  override readonly name = "StoppingError";

  constructor() {
    super("the kubelet is stopping");
  }
}

export class Lifetime {
  private readonly controller = new AbortController();

  constructor() {
    // Every call under way listens to it.
    setMaxListeners(0, this.signal);
  }

  /** Aborts with a StoppingError at the end of the part. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get hasEnded(): boolean {
    return this.controller.signal.aborted;
  }

  /** A second call does nothing. */
  end(): void {
    this.controller.abort(new StoppingError());
  }
}
