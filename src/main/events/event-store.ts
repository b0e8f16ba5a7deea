// The newest events of the node, in memory: for the pod timelines, and for operators of a kubelet without an API
// server.
// Invariant: never more than `limit` events; a repeated event replaces its predecessor and moves to the end.
import type { Event } from "../../shared/api/event.js";

export class EventStore {
  /** By name of the event, least recently recorded first. */
  private readonly events = new Map<string, Event>();

  constructor(private readonly limit: number) {}

  put(event: Event): void {
    this.events.delete(event.metadata.name);
    this.events.set(event.metadata.name, event);
    if (this.events.size <= this.limit) return;
    const oldest = this.events.keys().next();
    if (oldest.done !== true) this.events.delete(oldest.value);
  }

  /** Events about the object with this UID, least recently recorded first. */
  about(uid: string): Event[] {
    return [...this.events.values()].filter((event) => event.involvedObject.uid === uid);
  }

  /** All events, least recently recorded first. */
  all(): Event[] {
    return [...this.events.values()];
  }

  get size(): number {
    return this.events.size;
  }
}
