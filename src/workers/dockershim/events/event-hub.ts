// Events of containers for the clients of GetContainerEvents. One stream of the Engine serves them all, and exists only
// while there is a client. The Engine forgets its events when it restarts, so after each connection the list of
// containers shows the missed changes.
// Invariant: a client gets every change after it subscribed, in order, or its call ends; a slow client holds up no
// other.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { ContainerEventType, type ContainerEventResponse } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { listed } from "../engine/containers.js";
import type { Engine } from "../engine/engine.js";
import { ContainerChanges } from "./container-changes.js";
import { openEvents, type EngineEvent } from "./engine-events.js";

export interface EventHubDeps {
  engine: Engine;
  clock: Clock;
  log: Pick<Logger, "warn">;
  /** Adds the state of the pod. Never rejects. */
  responses(events: readonly EngineEvent[], signal: AbortSignal): Promise<ContainerEventResponse[]>;
}

/** Takes one response; one that throws gets no more. */
export type EventClient = (response: ContainerEventResponse) => void;

const RETRY_MS = 1000;
/** Beyond it the states of pods are read again from a list. */
const MAX_QUEUE = 10_000;

export class EventHub {
  private readonly clients = new Map<EventClient, (error: unknown) => void>();
  private current: { end: AbortController; done: Promise<void> } | undefined;

  constructor(private readonly deps: EventHubDeps) {}

  /** Resolves when the signal aborts. Rejects as the client throws. */
  async serve(client: EventClient, signal: AbortSignal): Promise<void> {
    const left = new Promise<void>((resolve, reject) => {
      this.clients.set(client, reject);
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    if (this.current === undefined) {
      const end = new AbortController();
      this.current = { end, done: this.follow(end.signal) };
    }
    try {
      await left;
    } finally {
      this.clients.delete(client);
      if (this.clients.size === 0) await this.stop();
    }
  }

  async stop(): Promise<void> {
    const { current } = this;
    this.current = undefined;
    current?.end.abort(new Error("no client follows events"));
    await current?.done;
  }

  /** Never rejects. */
  private async follow(signal: AbortSignal): Promise<void> {
    const changes = new ContainerChanges();
    let problem = "";
    while (!signal.aborted) {
      try {
        await this.connected(changes, signal, () => (problem = ""));
      } catch (error) {
        if (isAborted(signal)) return;
        const message = messageOf(error);
        if (message !== problem) this.deps.log.warn(`events of the Docker Engine are interrupted: ${message}`);
        problem = message;
      }
      await this.deps.clock.sleep(RETRY_MS, signal).catch(() => undefined);
    }
  }

  /** One connection, to its end. */
  private async connected(changes: ContainerChanges, parent: AbortSignal, onOpen: () => void): Promise<void> {
    const scope = new AbortController();
    const end = (): void => scope.abort(new Error("the connection ends"));
    parent.addEventListener("abort", end, { once: true });
    const queue = new Queue();
    try {
      const events = await openEvents(this.deps.engine, scope.signal);
      onOpen();
      const sending = this.send(queue, scope.signal).finally(end);
      try {
        queue.push(changes.listed(await this.present(scope.signal), this.deps.clock.nowNanos()));
        for await (const event of events) {
          queue.push(changes.seen(event));
          if (queue.length > MAX_QUEUE) break;
        }
      } finally {
        queue.close();
        await sending;
      }
    } finally {
      parent.removeEventListener("abort", end);
      end();
    }
  }

  private async present(signal: AbortSignal): Promise<Omit<EngineEvent, "at">[]> {
    const { engine } = this.deps;
    const found = [
      ...(await listed(engine, signal, { type: "podsandbox" })),
      ...(await listed(engine, signal, { type: "container" })),
    ];
    return found.map(({ Id, Names, Labels, State }) => ({
      id: Id,
      name: Names[0] ?? "",
      labels: Labels,
      type: LAST_EVENTS[State] ?? ContainerEventType.CONTAINER_STOPPED_EVENT,
    }));
  }

  private async send(queue: Queue, signal: AbortSignal): Promise<void> {
    for (let events = await queue.take(); events.length > 0; events = await queue.take()) {
      for (const response of await this.deps.responses(events, signal)) {
        for (const [client, reject] of this.clients) {
          try {
            client(response);
          } catch (error) {
            this.clients.delete(client);
            reject(error);
          }
        }
      }
    }
  }
}

/** Read again: it may have come while a call was awaited. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

const LAST_EVENTS: Readonly<Record<string, ContainerEventType>> = {
  created: ContainerEventType.CONTAINER_CREATED_EVENT,
  running: ContainerEventType.CONTAINER_STARTED_EVENT,
  paused: ContainerEventType.CONTAINER_STARTED_EVENT,
  restarting: ContainerEventType.CONTAINER_STARTED_EVENT,
};

/** Events that wait for the states of their pods: all that are there are taken together. */
class Queue {
  private events: EngineEvent[] = [];
  private closed = false;
  private wake: () => void = () => undefined;

  get length(): number {
    return this.events.length;
  }

  push(events: readonly EngineEvent[]): void {
    this.events.push(...events);
    this.wake();
  }

  close(): void {
    this.closed = true;
    this.wake();
  }

  /** Waits for one; none: the queue is closed. */
  async take(): Promise<EngineEvent[]> {
    while (this.events.length === 0 && !this.closed) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.events.splice(0);
  }
}
