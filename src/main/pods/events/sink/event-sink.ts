// Sends events to the API server one by one, as client-go's recorder, each when it is due (event-line.ts). It creates a
// new event and patches a repeated one. An event that the server refuses is dropped; after a connection error the
// kubelet retries for two minutes.
// Invariant: no caller waits for an event; dropped events are counted.

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
import { EventLine, keyOf, type Waiting } from "./event-line.js";

const TRIES = 12;
const RETRY_MS = 10_000;
/** An end of the kubelet waits so long for events that are not sent yet. */
const STOP_MS = 500;

export interface EventSinkDeps {
  client: Pick<ApiClient, "create" | "patch">;
  clock: Clock;
  log: Logger;
  counters?: { sent(): void; dropped(why: "full" | "refused" | "unreachable"): void };
  /** 0..1; the first wait is a share of the whole, so that a cluster's nodes do not come together. */
  random?: () => number;
}

export class EventSink {
  private readonly line = new EventLine();
  private sending: Promise<void> | undefined;
  /** Ends the wait until the first event is due. */
  private rest = new AbortController();
  /** Events are sent before they are due. */
  private isHurried = false;
  private readonly lifetime = new Lifetime();

  constructor(private readonly deps: EventSinkDeps) {}

  put(event: Event, again: boolean): void {
    if (this.lifetime.hasEnded) return;
    if (!this.line.put(event, again, this.deps.clock.monotonic())) this.deps.counters?.dropped("full");
    if (event.type === "Warning") this.rest.abort();
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
    });
  }

  /** Sends all events now. Resolves when each was sent or given up. */
  async idle(): Promise<void> {
    this.isHurried = true;
    this.rest.abort();
    await this.sending;
    this.isHurried = false;
  }

  /** Sends what it can in half a second, and drops the others. */
  async stop(): Promise<void> {
    const late = this.deps.clock.after(STOP_MS, () => this.end());
    await this.idle();
    late.cancel();
    this.end();
  }

  private end(): void {
    this.lifetime.end();
    this.line.clear();
  }

  /** Never rejects. */
  private async sendAll(): Promise<void> {
    for (;;) {
      const { first } = this.line;
      if (first === undefined) return;
      const waitMs = first.dueAt - this.deps.clock.monotonic();
      if (waitMs > 0 && !this.isHurried) {
        this.rest = new AbortController();
        await this.deps.clock.sleep(waitMs, this.rest.signal).then(...outcome);
        continue;
      }
      this.line.take(first);
      await this.deliver(first);
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
