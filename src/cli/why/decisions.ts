// What the kubelet did for a pod and why, oldest first: from the source, phases, events and steps. Pure.
import type { Event } from "../../shared/api/event.js";
import type { PodTimeline } from "../../shared/contracts/timeline.js";
import { timeOf } from "../output/amounts.js";

export interface Decision {
  at: number;
  what: string;
  count?: number;
  /** Of a repeated event: when it happened last. */
  lastAt?: number;
}

export function decisionsOf(events: readonly Event[], timeline: PodTimeline | undefined): Decision[] {
  const told = events.map((event): Decision => {
    const { lastTimestamp, reason, message, count } = event;
    const last = timeOf(lastTimestamp);
    const what = `${reason}: ${message}`;
    return count > 1
      ? { at: firstAt(event), what, count, ...(last !== undefined && { lastAt: last }) }
      : { at: firstAt(event), what };
  });
  const phases = (timeline?.phases ?? []).map(({ at, phase, reason }): Decision => ({
    at,
    what: `phase ${phase}${reason === undefined ? "" : ` (${reason})`}`,
  }));
  const steps = (timeline?.stages ?? []).flatMap(({ stage, container, endedAt, startedAt, error }): Decision[] => {
    const of = container === undefined ? "" : ` of ${container}`;
    if (error !== undefined) return [{ at: endedAt ?? startedAt, what: `step ${stage}${of} failed: ${error}` }];
    return endedAt === undefined ? [{ at: startedAt, what: `step ${stage}${of} began and goes on` }] : [];
  });
  const seen = timeline === undefined ? [] : [{ at: timeline.seenAt, what: "the kubelet received the pod" }];
  return [...seen, ...phases, ...told, ...steps].sort((a, b) => a.at - b.at);
}

/** Time stamps of events have whole seconds. The names that the kubelet gives have the first time in nanoseconds, as upstream's. */
function firstAt({ metadata, firstTimestamp, lastTimestamp }: Event): number {
  const second = timeOf(firstTimestamp) ?? timeOf(lastTimestamp) ?? 0;
  const digits = /\.([0-9a-f]{14,16})$/.exec(metadata.name)?.[1];
  const exact = digits === undefined ? NaN : Number(BigInt(`0x${digits}`) / 1_000_000n);
  return exact >= second && exact < second + 1000 ? exact : second;
}
