// A metrics page: this thread's figures, those of the whole process, and those of all other threads, collected at each
// scrape. Main may be stuck. After a deadline the page contains the last known figures of other threads, so that it
// works during a stall.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { sharedRead } from "../../../shared/base/turns/shared-read.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { Counter } from "../../../shared/telemetry/metrics/prom.js";
import type { MetricSnapshot } from "../../../shared/telemetry/metrics/snapshot.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import {
  expositionBody,
  prefersProtobuf,
  protobufContentType,
  textContentType,
  type Exposition,
  type Format,
} from "./exposition.js";

/** Prometheus' usual scrape timeout is 10 s: respond well within it. */
const COLLECT_DEADLINE_MS = 2000;

export function lateScrapes(registry: ThreadRegistry): Counter {
  return registry.counter(
    "nodelet_scrapes_late_total",
    "Number of scrapes with the previous values of other threads, because the main thread did not respond in time",
  );
}

export class Scrape {
  private last: MetricSnapshot[] = [];
  private pending: Promise<void> | undefined;
  private readonly late;
  private readonly pages: Readonly<Record<Format, () => Promise<Buffer>>> = {
    text: sharedRead(() => this.page("text")),
    protobuf: sharedRead(() => this.page("protobuf")),
  };

  /** `collect` calls main; `own` is the part of the page that this thread reads; `counts` counts late replies. */
  constructor(
    private readonly collect: () => Promise<MetricSnapshot[]>,
    private readonly own: readonly ThreadRegistry[],
    counts: ThreadRegistry,
    private readonly clock: Clock,
    private readonly log: Logger,
    /** With registered_metrics_total. */
    private readonly counted = false,
  ) {
    this.late = lateScrapes(counts);
  }

  /**
   * The figures of all threads in the format that the header Accept prefers. Never waits longer than the deadline for
   * other threads, never rejects because of them. Callers that come while a page is made share the next one.
   */
  async expose(accept: string | undefined): Promise<Exposition> {
    const asProtobuf = prefersProtobuf(accept);
    await this.collected();
    const body = await this.pages[asProtobuf ? "protobuf" : "text"]();
    return { body, contentType: asProtobuf ? protobufContentType(accept) : textContentType(accept) };
  }

  /** With the figures of other threads that were collected last. */
  private async page(format: Format): Promise<Buffer> {
    const own = await Promise.all(this.own.map((registry) => registry.exportSnapshot()));
    return expositionBody([...this.last, ...own], format, this.counted);
  }

  /**
   * Returns when `last` has fresh snapshots, or the deadline has passed. At most one question to main is open at a
   * time, however many scrape.
   */
  private async collected(): Promise<void> {
    const asked = (this.pending ??= this.ask());
    await new Promise<void>((resolve) => {
      const deadline = this.clock.after(COLLECT_DEADLINE_MS, () => {
        this.late.inc();
        resolve();
      });
      void asked.then(() => {
        deadline.cancel();
        resolve();
      });
    });
  }

  /** Never rejects. */
  private async ask(): Promise<void> {
    try {
      this.last = await this.collect();
    } catch (error) {
      this.late.inc();
      this.log.warn({ err: error }, "metrics of the other threads could not be collected; serving the last known ones");
    } finally {
      this.pending = undefined;
    }
  }
}
