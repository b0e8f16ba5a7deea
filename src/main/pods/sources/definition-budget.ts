// How many bytes of definitions that no decision was made about may be in memory. A pod's author chooses their size,
// and any number of pods may be bound to the node at once. A definition beyond the budget is dropped and read again,
// alone, when those before it are admitted or over.
// Invariant: a pod whose definition was kept stays kept; pods of ordinary size wait for none of the large ones; one
// definition is read at a time.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { Backoff } from "../../../shared/base/turns/backoff.js";
import { isNotFound } from "../../../shared/kubernetes/api/client/errors.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

/** Larger definitions have a budget of their own. */
const LARGE_BYTES = 64 * 1024;
/** For each of the two. @internal */
export const BUDGET_BYTES = 16 * 1024 * 1024;
const RETRY = { initialMs: 500, maxMs: 30_000 };

type PodName = Pick<Pod["metadata"], "namespace" | "name">;

export interface DefinitionBudgetDeps {
  /** The pod as the API server has it now; rejects with ApiError. */
  read(name: PodName, signal: AbortSignal): Promise<Pod>;
  /** A definition that was read: as an event of the watch. */
  arrived(pod: Pod): void;
  clock: Pick<Clock, "sleep">;
  log: Pick<Logger, "warn">;
}

interface Class {
  /** Bytes of the definitions that are kept and not decided on. */
  bytes: number;
  /** In the order of arrival. */
  readonly dropped: Map<PodUid, PodName>;
}

export class DefinitionBudget {
  private readonly small: Class = { bytes: 0, dropped: new Map() };
  private readonly large: Class = { bytes: 0, dropped: new Map() };
  /** Definitions that are kept, with their size. */
  private readonly kept = new Map<PodUid, number>();
  private readonly lifetime = new Lifetime();
  private reading: Promise<void> | undefined;

  constructor(private readonly deps: DefinitionBudgetDeps) {}

  /** True if the definition may be in memory. False: drop it; it comes by `arrived` later. */
  takes(pod: Pod): boolean {
    const { uid, namespace, name } = pod.metadata;
    const before = this.kept.get(uid);
    const bytes = sizeOf(pod);
    const [own, other] = bytes > LARGE_BYTES ? [this.large, this.small] : [this.small, this.large];
    other.dropped.delete(uid);
    if (before === undefined && own.bytes > 0 && own.bytes + bytes > BUDGET_BYTES) {
      own.dropped.set(uid, { namespace, name });
      return false;
    }
    own.dropped.delete(uid);
    this.release(uid, before);
    own.bytes += bytes;
    this.kept.set(uid, bytes);
    return true;
  }

  /** The pod waits for its definition. */
  waits(uid: PodUid): boolean {
    return this.small.dropped.has(uid) || this.large.dropped.has(uid);
  }

  /** The pod was admitted, or is over, or its object is gone: its definition is not waiting any more. */
  decided(uid: PodUid): void {
    this.small.dropped.delete(uid);
    this.large.dropped.delete(uid);
    const bytes = this.kept.get(uid);
    if (bytes === undefined) return;
    this.kept.delete(uid);
    this.release(uid, bytes);
    this.readNext();
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.reading;
  }

  private release(uid: PodUid, bytes: number | undefined): void {
    if (bytes === undefined) return;
    this.kept.delete(uid);
    (bytes > LARGE_BYTES ? this.large : this.small).bytes -= bytes;
  }

  private readNext(): void {
    if (this.next() === undefined || this.lifetime.hasEnded) return;
    this.reading ??= this.readAll(this.lifetime.signal).finally(() => (this.reading = undefined));
  }

  /**
   * The pod to read next; undefined: none waits, or the budget is used up. Half of it is free, so that a large one
   * fits.
   */
  private next(): [uid: PodUid, name: PodName] | undefined {
    for (const { bytes, dropped } of [this.small, this.large]) {
      const [first] = dropped;
      if (first !== undefined && bytes <= BUDGET_BYTES / 2) return first;
    }
    return undefined;
  }

  /** Never rejects. */
  private async readAll(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(RETRY);
    for (let next = this.next(); next !== undefined && !signal.aborted; next = this.next()) {
      const [uid, name] = next;
      try {
        const pod = await this.deps.read(name, signal);
        backoff.reset();
        // The same name may be another pod's by now, whose event comes by the watch.
        if (this.waits(uid) && pod.metadata.uid === uid) this.deps.arrived(pod);
        else this.decided(uid);
        // The definition exceeds the free bytes: it is read when more are free.
        if (this.waits(uid)) return;
      } catch (error) {
        if (isNotFound(error)) this.decided(uid);
        else await this.onFailure(error, backoff, signal);
      }
    }
  }

  private async onFailure(error: unknown, backoff: Backoff, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    if (backoff.failures === 0) {
      const waiting = this.small.dropped.size + this.large.dropped.size;
      const what = `cannot read the definitions of ${waiting} pods: ${errorText(error)}; trying again`;
      this.deps.log.warn({ err: error }, what);
    }
    await this.deps.clock.sleep(backoff.next(), signal).catch(() => undefined);
  }
}

/** Bytes of the texts of a definition, and 16 for each value: near what it takes in memory. */
function sizeOf({ metadata, spec }: Pod): number {
  return bytesOf(metadata) + bytesOf(spec);
}

function bytesOf(value: unknown): number {
  if (typeof value === "string") return 16 + value.length;
  if (typeof value !== "object" || value === null) return 16;
  let bytes = 16;
  if (Array.isArray(value)) for (const item of value) bytes += bytesOf(item);
  else for (const key in value) bytes += bytesOf(value[key as keyof typeof value]);
  return bytes;
}
