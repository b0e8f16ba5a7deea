// Clients that visit the kubelet again and again, until they are stopped.

import { sleep } from "../../tools/standalone/wait.js";

/** Before the next visit, if one was refused or cut. */
export const PAUSE_MS = 100;

export class Visits {
  private readonly over = new AbortController();
  private readonly running: Promise<void>[];

  /** @param visit gets the number of the client; `over` is aborted by stop() */
  constructor(count: number, visit: (client: number, over: AbortSignal) => Promise<void>) {
    this.running = Array.from({ length: count }, (_, client) => this.repeat(() => visit(client, this.over.signal)));
  }

  async stop(): Promise<void> {
    this.over.abort();
    await Promise.all(this.running);
  }

  private async repeat(visit: () => Promise<void>): Promise<void> {
    while (!this.over.signal.aborted) await visit().catch(() => sleep(PAUSE_MS));
  }
}
