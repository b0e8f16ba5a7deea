// Correlation of repeated events: the same event is counted, not repeated; many similar ones are combined into one; a
// source with too many events about one object is limited. Pure over the given times (milliseconds since the epoch).
// Numbers are those of client-go's default correlator.
//
//   event ─► aggregate (10 different texts in 10 min: "(combined from similar events): …")
//         ─► spam filter (25 at once per source, object and type, then one in 5 min)
//         ─► count (same text again: count + 1, first time stamp kept)

import type { Event, EventType, ObjectReference } from "../../../shared/kubernetes/api/event.js";

export interface CorrelatorOptions {
  /** Different texts of one group before they are combined. */
  maxSimilar: number;
  /** Milliseconds in which they count together. */
  similarWithinMs: number;
  /** Events of one object and type that pass at once. */
  burst: number;
  /** Milliseconds until one more may pass. */
  refillMs: number;
  /**
   * Number of objects to remember, with their groups and events; the object with the oldest event is forgotten first.
   */
  remembered: number;
  /** Events remembered of one object. */
  textsRemembered: number;
}

const correlatorDefaults: CorrelatorOptions = {
  maxSimilar: 10,
  similarWithinMs: 600_000,
  burst: 25,
  refillMs: 300_000,
  remembered: 1024,
  textsRemembered: 128,
};

export type Correlated = { kind: "new"; event: Event } | { kind: "again"; event: Event } | { kind: "suppressed" };

interface Group {
  texts: Set<string>;
  lastAt: number;
}

/** The part of an event that repeats need: thousands of whole events would be megabytes. */
interface Seen {
  name: string;
  firstTimestamp: string;
  count: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** State of one object. */
interface About {
  uid: string | undefined;
  /** By the type of events: warnings that repeat leave room for what happens in between. */
  buckets: Map<EventType, Bucket>;
  groups: Map<string, Group>;
  seen: Map<string, Seen>;
}

const COMBINED_PREFIX = "(combined from similar events): ";

export class EventCorrelator {
  private readonly options: CorrelatorOptions;
  private readonly objects = new Map<string, About>();

  constructor(options: Partial<CorrelatorOptions> = {}) {
    this.options = { ...correlatorDefaults, ...options };
  }

  correlate(event: Event, now: number): Correlated {
    const about = this.about(event.involvedObject);
    const { message, key } = this.aggregate(about, event, now);
    if (!this.passes(about, event.type, now)) return { kind: "suppressed" };
    const known = about.seen.get(key);
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
    about.seen.delete(key);
    about.seen.set(key, { name: metadata.name, firstTimestamp, count });
    dropOldest(about.seen, this.options.textsRemembered);
    return { kind: known === undefined ? "new" : "again", event: next };
  }

  /** The text to show, and the key under which the event is counted. */
  private aggregate({ groups }: About, event: Event, now: number): { message: string; key: string } {
    const { maxSimilar, similarWithinMs } = this.options;
    const similar = key([event.type, event.reason]);
    let group = groups.get(similar);
    if (group === undefined || now - group.lastAt > similarWithinMs) group = { texts: new Set(), lastAt: now };
    group.lastAt = now;
    group.texts.add(event.message);
    groups.set(similar, group);
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

  private passes({ buckets }: About, type: EventType, now: number): boolean {
    const { burst, refillMs } = this.options;
    const bucket = buckets.get(type) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, bucket.tokens + Math.max(now - bucket.at, 0) / refillMs);
    const passes = tokens >= 1;
    buckets.set(type, { tokens: passes ? tokens - 1 : tokens, at: now });
    return passes;
  }

  /** Forgets the removed object with this UID: no more events about it will come. */
  forget(uid: string): void {
    for (const [name, about] of this.objects) if (about.uid === uid) this.objects.delete(name);
  }

  private about(object: ObjectReference): About {
    const name = objectKey(object);
    const about = this.objects.get(name) ?? {
      uid: object.uid,
      buckets: new Map<EventType, Bucket>(),
      groups: new Map<string, Group>(),
      seen: new Map<string, Seen>(),
    };
    this.objects.delete(name);
    this.objects.set(name, about);
    dropOldest(this.objects, this.options.remembered);
    return about;
  }
}

function objectKey(object: ObjectReference): string {
  return key([object.kind, object.namespace ?? "", object.name, object.uid, object.apiVersion ?? ""]);
}

function key(parts: readonly string[]): string {
  return JSON.stringify(parts);
}

function dropOldest(map: Map<string, unknown>, limit: number): void {
  const [oldest] = map.keys();
  if (map.size > limit && oldest !== undefined) map.delete(oldest);
}
