// Sends events to the API server one by one, as client-go's recorder. It creates a new event and patches a repeated
// one. An event that the server refuses is dropped; after a connection error the kubelet retries for two minutes.
// Invariant: no caller waits for an event; the queue is bounded, the oldest is dropped first and counted.

import { Lifetime } from "../../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import {
  isAlreadyExists,
  ApiConnectionError,
  ApiError,
  isNamespaceTerminating,
  isNotFound,
  isRetriable,
} from "../../../../shared/kubernetes/api/client/errors.js";
import { EVENTS } from "../../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../../shared/kubernetes/api/client/port.js";
import type { Event } from "../../../../shared/kubernetes/api/event.js";
import { errorText } from "../../../../shared/telemetry/log/error-text.js";
import { verbose, type Logger } from "../../../../shared/telemetry/log/logger.js";

export const QUEUE_LIMIT = 1000;
const TRIES = 12;
const RETRY_MS = 10_000;

export interface EventSinkDeps {
  client: Pick<ApiClient, "create" | "patch">;
  clock: Clock;
  log: Logger;
  counters?: { sent(): void; dropped(why: "full" | "refused" | "unreachable"): void };
  /** 0..1; the first wait is a share of the whole, so that a cluster's nodes do not come together. */
  random?: () => number;
}

interface Waiting {
  event: Event;
  again: boolean;
}

export class EventSink {
  /** By namespace and name: a repeat of a waiting event takes its place. */
  private readonly queue = new Map<string, Waiting>();
  private sending: Promise<void> | undefined;
  private readonly lifetime = new Lifetime();

  constructor(private readonly deps: EventSinkDeps) {}

  put(event: Event, again: boolean): void {
    if (this.lifetime.hasEnded) return;
    const key = keyOf(event);
    const waiting = this.queue.get(key);
    this.queue.set(key, { event, again: waiting === undefined ? again : waiting.again });
    if (this.queue.size > QUEUE_LIMIT) {
      const oldest = this.queue.keys().next();
      if (oldest.done !== true) this.queue.delete(oldest.value);
      this.deps.counters?.dropped("full");
    }
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
    });
  }

  async idle(): Promise<void> {
    await this.sending;
  }

  /** Drops the waiting events. */
  async stop(): Promise<void> {
    this.lifetime.end();
    this.queue.clear();
    await this.sending;
  }

  /** Never rejects. */
  private async sendAll(): Promise<void> {
    for (;;) {
      const next = this.queue.entries().next();
      if (next.done === true) return;
      const [key, waiting] = next.value;
      this.queue.delete(key);
      await this.deliver(waiting);
    }
  }

  private async deliver({ event, again }: Waiting): Promise<void> {
    const { clock, log, counters, random = Math.random } = this.deps;
    const { signal } = this.lifetime;
    for (let tried = 1; ; tried++) {
      try {
        await this.send(event, again);
        counters?.sent();
        return;
      } catch (error) {
        if (signal.aborted) return;
        const worthAnother =
          error instanceof ApiConnectionError ||
          (error instanceof ApiError && error.status !== 500 && isRetriable(error));
        if (!worthAnother) {
          if (isAlreadyExists(error)) return;
          counters?.dropped("refused");
          // Every namespace that is deleted with pods in it ends so.
          if (isNamespaceTerminating(error)) {
            verbose(log, 2)?.({ event: event.reason }, `dropped event ${keyOf(event)}: its namespace is being deleted`);
            return;
          }
          log.error(
            { event: event.reason, err: error },
            `the API server rejected event ${keyOf(event)}: ${errorText(error)}`,
          );
          return;
        }
        if (tried >= TRIES) {
          counters?.dropped("unreachable");
          log.error({ event: event.reason, err: error }, `dropped event ${keyOf(event)} after ${TRIES} tries`);
          return;
        }
        verbose(log, 2)?.({ err: error }, `event ${keyOf(event)} waits for the API server`);
        const waited = clock.sleep(tried === 1 ? RETRY_MS * random() : RETRY_MS, signal);
        if (!(await waited.then(...outcome))) return;
      }
    }
  }

  private async send(event: Event, again: boolean): Promise<void> {
    const { client } = this.deps;
    const { signal } = this.lifetime;
    const { namespace, name } = event.metadata;
    if (again) {
      const { count, lastTimestamp, message } = event;
      try {
        await client.patch(
          EVENTS,
          { namespace, name },
          { count, lastTimestamp, message },
          { type: "strategic", signal },
        );
        return;
      } catch (error) {
        // The server forgets events after an hour.
        if (!isNotFound(error)) throw error;
      }
    }
    await client.create(EVENTS, { ...event, apiVersion: "v1", kind: "Event" }, { signal, unread: true });
  }
}

/** true: it came; false: it was called off. */
const outcome = [() => true, () => false] as const;

function keyOf({ metadata }: Event): string {
  return `${metadata.namespace}/${metadata.name}`;
}
