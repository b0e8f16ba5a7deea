// The source of the streams of one subject: a map of texts that all clients of the subject share. It is read in parts,
// each with its period.
// Invariant: without a client nothing is read and nothing is kept.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { Loop } from "../../../shared/base/turns/loop.js";

/** Key to JSON text. An entry that did not change keeps its text, so that a comparison is cheap. */
export type Entries = ReadonlyMap<string, string>;

export interface FeedPart {
  everyMs: number;
  /** While it rejects, clients keep the previous result. */
  read(): Entries | Promise<Entries>;
  /** The last client has left: drops what was kept for the next reading. */
  idle?: () => void;
}

export class Feed {
  private readonly clients = new Set<() => void>();
  private loops: Loop[] = [];
  private entries: Entries[] = [];

  constructor(
    private readonly parts: readonly FeedPart[],
    private readonly clock: Clock,
  ) {}

  /** Calls `changed` after each reading, until the returned function is called. */
  join(changed: () => void): () => void {
    this.clients.add(changed);
    if (this.clients.size === 1) this.start();
    return () => {
      if (this.clients.delete(changed) && this.clients.size === 0) this.stop();
    };
  }

  get clientCount(): number {
    return this.clients.size;
  }

  /** The last result of each part. */
  *all(): Iterable<readonly [key: string, text: string]> {
    for (const part of this.entries) yield* part;
  }

  private start(): void {
    const kept: Entries[] = this.parts.map(() => new Map());
    this.entries = kept;
    this.loops = this.parts.map(
      (part, index) =>
        new Loop({
          round: async () => {
            const read = await part.read();
            // Of a feed that was stopped, and perhaps started again, meanwhile.
            if (this.entries !== kept) return undefined;
            kept[index] = read;
            for (const changed of [...this.clients]) changed();
            return undefined;
          },
          periodMs: part.everyMs,
          failed: () => undefined,
          clock: this.clock,
        }),
    );
    for (const loop of this.loops) loop.start();
  }

  private stop(): void {
    // Never rejects; a round that hangs ends by itself.
    for (const loop of this.loops) void loop.stop();
    this.loops = [];
    this.entries = [];
    for (const part of this.parts) part.idle?.();
  }
}
