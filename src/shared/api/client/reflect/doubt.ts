// Whether the server still has the history that a watch goes on in.
// Invariant: storage that was lost or set back is noticed though the server says nothing about it: it opens a watch at a
// version of the future (seen at 1.36), and then tells neither changes nor bookmarks until that version is passed.
import type { Clock } from "../../../clock/clock.js";
import type { Scope } from "../../../abort/scope.js";
import { isUnknownVersion } from "./versions.js";

/** Bookmarks come once a minute. */
const SILENT_MS = 120_000;
/** After a failure the server is asked 1 to 5 s into the next watch, so that not all of a node's watches ask at once. */
const FAILED_MS = 1000;
const SPREAD_MS = 4000;
/** Between questions that are not answered. */
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

  /** As long as the scope of a watch lasts; ends it with the server's answer where that says that history is another one. */
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
      // A change that came meanwhile says more; other failures are for the watch to find.
      if (received === this.received && error instanceof Error && isUnknownVersion(error)) scope.abort(error);
    }
  }
}
