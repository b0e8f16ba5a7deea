// What becomes of an event when many like it came before: the same event is counted, not repeated; many similar ones are
// combined into one; a source that shouts about one object is cut off. Pure over the times that come in (milliseconds
// since the epoch). Numbers are those of client-go's default correlator (constants.tsv, "event …" rows).
//
//   event ─► aggregate (10 different texts in 10 min: "(combined from similar events): …")
//         ─► spam filter (25 at once per source and object, then one in 5 min)
//         ─► count (same text again: count + 1, first time stamp kept)
import type { Event, ObjectReference } from "../../shared/api/event.js";

export interface CorrelatorOptions {
  /** Different texts of one group before they are combined. */
  maxSimilar: number;
  /** Milliseconds in which they count together. */
  similarWithinMs: number;
  /** Events of one object that pass at once. */
  burst: number;
  /** Milliseconds until one more may pass. */
  refillMs: number;
  /** Groups, objects and events remembered, each; the one not used for longest is forgotten first. */
  remembered: number;
}

export const correlatorDefaults: CorrelatorOptions = {
  maxSimilar: 10,
  similarWithinMs: 600_000,
  burst: 25,
  refillMs: 300_000,
  remembered: 4096,
};

export type Correlated = { kind: "new"; event: Event } | { kind: "again"; event: Event } | { kind: "suppressed" };

interface Group {
  texts: Set<string>;
  lastAt: number;
}

/** What is kept of an event for its repeats: thousands of whole events would be megabytes. */
interface Seen {
  name: string;
  firstTimestamp: string;
  count: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

export const COMBINED_PREFIX = "(combined from similar events): ";

export class EventCorrelator {
  private readonly options: CorrelatorOptions;
  private readonly groups: Remembered<Group>;
  private readonly buckets: Remembered<Bucket>;
  private readonly seen: Remembered<Seen>;

  constructor(options: Partial<CorrelatorOptions> = {}) {
    this.options = { ...correlatorDefaults, ...options };
    this.groups = new Remembered(this.options.remembered);
    this.buckets = new Remembered(this.options.remembered);
    this.seen = new Remembered(this.options.remembered);
  }

  correlate(event: Event, now: number): Correlated {
    const { message, key } = this.aggregate(event, now);
    if (!this.passes(event.involvedObject, now)) return { kind: "suppressed" };
    const known = this.seen.get(key);
    const next: Event =
      known === undefined
        ? { ...event, message }
        : {
            ...event,
            metadata: { ...event.metadata, name: known.name },
            message,
            count: known.count + 1,
            firstTimestamp: known.firstTimestamp,
          };
    const { metadata, firstTimestamp, count } = next;
    this.seen.set(key, { name: metadata.name, firstTimestamp, count });
    return { kind: known === undefined ? "new" : "again", event: next };
  }

  /** The text to show, and what the event is counted under. */
  private aggregate(event: Event, now: number): { message: string; key: string } {
    const { maxSimilar, similarWithinMs } = this.options;
    const similar = key([objectKey(event.involvedObject), event.type, event.reason]);
    let group = this.groups.get(similar);
    if (group === undefined || now - group.lastAt > similarWithinMs) group = { texts: new Set(), lastAt: now };
    group.lastAt = now;
    group.texts.add(event.message);
    this.groups.set(similar, group);
    if (group.texts.size < maxSimilar) {
      return { message: event.message, key: key([similar, event.involvedObject.fieldPath ?? "", event.message]) };
    }
    // The set need not grow for ever: which text was the oldest does not matter once they are combined.
    for (const oldest of group.texts) {
      if (group.texts.size <= maxSimilar) break;
      group.texts.delete(oldest);
    }
    return { message: COMBINED_PREFIX + event.message, key: similar };
  }

  private passes(object: ObjectReference, now: number): boolean {
    const { burst, refillMs } = this.options;
    const about = objectKey(object);
    const bucket = this.buckets.get(about) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, bucket.tokens + Math.max(now - bucket.at, 0) / refillMs);
    const passes = tokens >= 1;
    this.buckets.set(about, { tokens: passes ? tokens - 1 : tokens, at: now });
    return passes;
  }
}

function objectKey(object: ObjectReference): string {
  return key([object.kind, object.namespace ?? "", object.name, object.uid, object.apiVersion ?? ""]);
}

function key(parts: readonly string[]): string {
  return JSON.stringify(parts);
}

/** A map of bounded size: the entry that was not touched for longest goes first. */
class Remembered<Value> {
  private readonly entries = new Map<string, Value>();

  constructor(private readonly limit: number) {}

  get(name: string): Value | undefined {
    return this.entries.get(name);
  }

  set(name: string, value: Value): void {
    this.entries.delete(name);
    this.entries.set(name, value);
    if (this.entries.size <= this.limit) return;
    const oldest = this.entries.keys().next();
    if (oldest.done !== true) this.entries.delete(oldest.value);
  }
}
