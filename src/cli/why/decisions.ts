// What the kubelet did for a pod and why, oldest first: from the source, phases, events and failed steps. What repeats
// is counted. Pure.

import type { PodTimeline } from "../../shared/contracts/timeline.js";
import type { Event } from "../../shared/kubernetes/api/event.js";
import { timeOf } from "../output/amounts.js";
import { plainText } from "./plain-text.js";

export interface Decision {
  at: number;
  what: string;
  count?: number;
  /** When a repeated event happened last. */
  lastAt?: number | undefined;
}

/** Order of what has the same moment: an event may have whole seconds only. */
const RANK = { seen: 0, begin: 1, event: 2, phase: 3 } as const;
type Ranked = Decision & { rank: number };

export function decisionsOf(events: readonly Event[], timeline: PodTimeline | undefined): Decision[] {
  return collapsed([...ofTimeline(timeline, events), ...events.map(ofEvent)])
    .sort((a, b) => a.at - b.at || a.rank - b.rank)
    .map(({ rank: _rank, ...decision }) => decision);
}

function ofEvent(event: Event): Ranked {
  const { lastTimestamp, reason, message, count } = event;
  const last = timeOf(lastTimestamp);
  const what = `${reason}: ${plainText(message)}`;
  const at = firstAt(event);
  if (count <= 1) return { at, what, rank: RANK.event };
  return { at, what, rank: RANK.event, count, lastAt: last };
}

function* ofTimeline(timeline: PodTimeline | undefined, events: readonly Event[]): Iterable<Ranked> {
  if (timeline === undefined) return;
  yield { at: timeline.seenAt, what: "the kubelet received the pod", rank: RANK.seen };
  for (const { at, phase, reason } of timeline.phases) {
    const what = `phase ${phase}${reason === undefined ? "" : ` (${reason})`}`;
    yield { at, what, rank: phase === "Pending" ? RANK.begin : RANK.phase };
  }
  const told = events.map(({ message }) => plainText(message));
  const starts = timeline.stages
    .filter(({ stage }) => stage === "start-container")
    .map(({ error }) => plainText(error ?? ""));
  for (const { stage, container, endedAt, startedAt, error } of timeline.stages) {
    const of = container === undefined ? "" : ` of ${container}`;
    if (error === undefined) {
      if (endedAt === undefined)
        yield { at: startedAt, what: `step ${stage}${of} began and goes on`, rank: RANK.event };
      continue;
    }
    const text = plainText(error);
    // Its event, or the step around it, says the same.
    const isTold = told.some((message) => message.includes(text) || text.includes(message.replace(/^Error: /, "")));
    const isPart = stage !== "start-container" && starts.some((whole) => whole !== "" && text.includes(whole));
    if (!isTold && !isPart)
      yield { at: endedAt ?? startedAt, what: `step ${stage}${of} failed: ${text}`, rank: RANK.event };
  }
}

/** Equal texts become one, with their first and last time. Phases repeat on purpose. */
function collapsed(all: readonly Ranked[]): Ranked[] {
  const kept = new Map<string, Ranked>();
  for (const [index, one] of all.entries()) {
    const key = one.rank === RANK.event ? one.what : `${index}`;
    const before = kept.get(key);
    if (before === undefined) {
      kept.set(key, one);
      continue;
    }
    const at = Math.min(before.at, one.at);
    const lastAt = Math.max(before.lastAt ?? before.at, one.lastAt ?? one.at);
    kept.set(key, { ...one, at, lastAt, count: (before.count ?? 1) + (one.count ?? 1) });
  }
  return [...kept.values()];
}

/**
 * Time stamps of events have whole seconds. The names that the kubelet gives have the first time in nanoseconds, as
 * upstream's.
 */
function firstAt({ metadata, firstTimestamp, lastTimestamp }: Event): number {
  const second = timeOf(firstTimestamp) ?? timeOf(lastTimestamp) ?? 0;
  const digits = /\.([0-9a-f]{14,16})$/.exec(metadata.name)?.[1];
  const exact = digits === undefined ? NaN : Number(BigInt(`0x${digits}`) / 1_000_000n);
  return exact >= second && exact < second + 1000 ? exact : second;
}
