// The recorder of a running node. It correlates events, keeps them in memory, logs them and passes them to the event
// sink.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { Event, ObjectReference } from "../../../shared/kubernetes/api/event.js";
import { containerNamed } from "../../../shared/kubernetes/api/per-spec.js";
import { podDescription, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { apiTime } from "../../../shared/kubernetes/api/time.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { verbose, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { EventInput, EventRecorder, ObjectEvents } from "../../model/event-recorder.js";
import { EventCorrelator } from "./correlator.js";

/** About as many as 250 failing pods emit in one hour; a few hundred bytes each. */
const KEPT_EVENTS = 2000;

/** Receives every event that passed the correlator; `again`: a repeat of which only count, text and time changed. */
export interface EventTarget {
  put(event: Event, again: boolean): void;
  /** Resolves when it has sent, or given up, every event so far. */
  idle(): Promise<void>;
}

export interface NodeRecorderDeps {
  nodeName: string;
  clock: Pick<Clock, "now">;
  log: Logger;
  counters?: { recorded(type: string): void; suppressed(): void };
}

/**
 * Events of every start and end of a container. The API server and `nodelet events` have them, and the steps that cause
 * them have a line; upstream logs events from -v=3 on, too.
 */
const ROUTINE: ReadonlySet<string> = new Set(["Pulled", "Created", "Started", "Killing"]);

export class NodeRecorder implements EventRecorder, ObjectEvents {
  readonly store = new EventStore(KEPT_EVENTS);
  private readonly correlator = new EventCorrelator();
  private serial = 0;
  private sink: EventTarget | undefined;
  private readonly sinkIsThere = new Promise<void>((resolve) => (this.onSink = resolve));
  private onSink: () => void = () => undefined;

  constructor(private readonly deps: NodeRecorderDeps) {}

  pod(pod: Pod, input: EventInput): void {
    const { namespace } = pod.metadata;
    this.record(podReference(pod, input.container), namespace, input, `pod ${podDescription(pod)}`);
  }

  node(input: Omit<EventInput, "container">): void {
    const { nodeName } = this.deps;
    this.record(nodeReference(nodeName), "default", input, `node ${nodeName}`);
  }

  object(about: ObjectReference, input: Omit<EventInput, "container">): void {
    const { kind, namespace = "default", name } = about;
    this.record(about, namespace, input, `${kind} ${namespace}/${name}`);
  }

  forget(uid: PodUid): void {
    this.correlator.forget(uid);
  }

  private record(involvedObject: Event["involvedObject"], namespace: string, input: EventInput, about: string): void {
    const { clock, log, nodeName, counters } = this.deps;
    const now = clock.now();
    const time = apiTime(now);
    const { type, reason, message, annotations, container } = input;
    const outcome = this.correlator.correlate(
      {
        metadata: omitUndefined({
          name: `${involvedObject.name}.${this.nextName(now)}`,
          namespace,
          annotations: annotations !== undefined ? { ...annotations } : undefined,
        }),
        involvedObject,
        reason,
        message,
        source: { component: "kubelet", host: nodeName },
        firstTimestamp: time,
        lastTimestamp: time,
        count: 1,
        type,
        reportingComponent: "kubelet",
        reportingInstance: nodeName,
      },
      now,
    );
    const where = container === undefined ? about : `${about} container ${container}`;
    if (outcome.kind === "suppressed") {
      counters?.suppressed();
      verbose(log, 4)?.(
        { event: reason },
        `dropped event ${reason} of ${where}, too many events of this object: ${message}`,
      );
      return;
    }
    counters?.recorded(type);
    this.store.put(outcome.event);
    const write = type === "Warning" ? log.warn.bind(log) : verbose(log, ROUTINE.has(reason) ? 3 : 0);
    write?.(
      omitUndefined({ event: reason, object: about, container, count: outcome.event.count }),
      `event ${reason} of ${where}: ${outcome.event.message}`,
    );
    this.sink?.put(outcome.event, outcome.kind === "again");
  }

  /** Sends events to this target from now on, the events recorded before first. */
  sendTo(sink: EventTarget): void {
    for (const event of this.store.all()) sink.put(event, false);
    this.sink = sink;
    this.onSink();
  }

  /** Resolves when the target has sent, or given up, all events so far; never without a target. */
  async sent(): Promise<void> {
    await this.sinkIsThere;
    await this.sink?.idle();
  }

  /** Unique on this node: the time, as in upstream's names, and a serial within the millisecond. */
  private nextName(now: number): string {
    this.serial = (this.serial + 1) % 1_000_000;
    return (BigInt(now) * 1_000_000n + BigInt(this.serial)).toString(16);
  }
}

// Builds the object reference of an event.
/** A pod, or one of its containers: "spec.containers{web}", "spec.initContainers{fetch}". */
function podReference(pod: Pod, container?: string): ObjectReference {
  const { name, namespace, uid } = pod.metadata;
  return omitUndefined({
    kind: "Pod",
    namespace,
    name,
    uid,
    apiVersion: "v1",
    fieldPath: container !== undefined ? containerFieldPath(pod, container) : undefined,
  });
}

/**
 * Events about nodes carry the node's name as UID. So the kubelet can record them before it has read its Node object,
 * and `kubectl describe node` finds them: it looks for both UIDs. (Events of upstream's 1.36 have none.)
 */
function nodeReference(nodeName: string): ObjectReference {
  return { kind: "Node", name: nodeName, uid: nodeName, apiVersion: "v1" };
}

const LISTS = { init: "initContainers", app: "containers", ephemeral: "ephemeralContainers" } as const;

function containerFieldPath({ spec }: Pod, name: string): string {
  return `spec.${LISTS[containerNamed(spec, name)?.place ?? "app"]}{${name}}`;
}

/**
 * The newest events of the node, in memory. Pod timelines use them, and operators of a kubelet without an API server.
 * Invariant: never more than `limit` events; a repeated event replaces its predecessor and moves to the end.
 */
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
