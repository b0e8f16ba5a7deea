// Checks whether the server still has the history that a watch continues from. Invariant: lost or restored storage is
// detected although the server does not report it. Such a server accepts a watch at a future version (observed with
// 1.36). It then sends neither changes nor bookmarks until that version is passed.

import type { Scope } from "../../../../base/abort/scope.js";
import type { Clock } from "../../../../base/clock/clock.js";
import { isUnknownVersion } from "./versions.js";

/** Bookmarks come once a minute. */
const SILENT_MS = 120_000;
/**
 * After a failure the query to the server follows 1 to 5 s after the start of the next watch. So a node's watches do
 * not query together.
 */
const FAILED_MS = 1000;
const SPREAD_MS = 4000;
/** Interval between queries without a response. */
const AGAIN_MS = 30_000;

export class Doubt {
  private dueAt: number;
  private hasFailed = false;
  private received = 0;

  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
    /** Rejects with an error that isUnknownVersion when the server does not know a version that it sent before. */
    private readonly ask: (signal: AbortSignal) => Promise<void>,
  ) {
    this.dueAt = clock.monotonic() + SILENT_MS;
  }

  /** The server has delivered something. */
  settled(): void {
    this.received += 1;
    this.hasFailed = false;
    this.dueAt = this.clock.monotonic() + SILENT_MS;
  }
  /** The next response may come from another server, or from the same one with restored storage. */
  failed(): void {
    this.hasFailed = true;
  }

  /** Runs as long as the scope of a watch; aborts it with the server's error if the history has changed. */
  async during(scope: Scope): Promise<void> {
    const { clock } = this;
    const { signal } = scope;
    if (this.hasFailed) this.dueAt = clock.monotonic() + FAILED_MS + this.random() * SPREAD_MS;
    while (!signal.aborted) {
      const waitMs = this.dueAt - clock.monotonic();
      if (waitMs > 0) await clock.sleep(waitMs, signal).catch(() => undefined);
      else await this.question(scope);
    }
  }

  private async question(scope: Scope): Promise<void> {
    const { received } = this;
    this.dueAt = this.clock.monotonic() + AGAIN_MS;
    try {
      await this.ask(scope.signal);
      this.settled();
    } catch (error) {
      // A change that came meanwhile proves more; other failures are for the watch to find.
      if (received === this.received && error instanceof Error && isUnknownVersion(error)) scope.abort(error);
    }
  }
}
