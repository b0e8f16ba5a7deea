// The containers of Kubernetes as the last events and lists showed them. Pure.
// Invariant: each change is reported once, by the event or the list that shows it first. The states of a container
// only go forward.

import { ContainerEventType } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { EngineEvent } from "./engine-events.js";

type Known = Omit<EngineEvent, "at">;

const { CONTAINER_CREATED_EVENT, CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT } =
  ContainerEventType;
const ORDER = [
  CONTAINER_CREATED_EVENT,
  CONTAINER_STARTED_EVENT,
  CONTAINER_STOPPED_EVENT,
  CONTAINER_DELETED_EVENT,
] as const;

export class ContainerChanges {
  private known: Map<string, Known> | undefined;

  /** The event, or nothing if it is known already. */
  seen(event: EngineEvent): EngineEvent[] {
    const known = (this.known ??= new Map<string, Known>());
    const before = known.get(event.id);
    if (event.type === CONTAINER_DELETED_EVENT) {
      // One that was never seen says nothing about any pod that is still known.
      if (!known.delete(event.id)) return [];
    } else {
      if (before !== undefined && rank(before.type) >= rank(event.type)) return [];
      known.set(event.id, event);
    }
    return [event];
  }

  /**
   * All containers that there are, each with its last event. Returns what happened since, in order; the first list is
   * no news.
   */
  listed(present: readonly Known[], at: bigint): EngineEvent[] {
    const before = this.known;
    this.known = new Map(present.map((one) => [one.id, one]));
    if (before === undefined) return [];
    const removed = [...before.values()].filter(({ id }) => this.known?.has(id) === false);
    return [
      ...removed.map((one) => ({ ...one, type: CONTAINER_DELETED_EVENT, at })),
      ...present.flatMap((one) => missed(before.get(one.id), one).map((type) => ({ ...one, type, at }))),
    ];
  }
}

/** The events between two states of a container. */
function missed(before: Known | undefined, now: Known): ContainerEventType[] {
  return ORDER.slice(before === undefined ? 0 : rank(before.type) + 1, rank(now.type) + 1);
}

function rank(type: ContainerEventType): number {
  return ORDER.findIndex((one) => one === type);
}
