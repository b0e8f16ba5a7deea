// Faults on purpose: calls that fail, wait, hang or lose their answer; watches that are cut. Each is set with a match
// and taken back with the function it returns. Invariant: without faults set, none happens.

import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../src/shared/base/clock/clock.js";
import { randomFrom } from "../support/seeded-random.js";
import { matches, type ApiCall, type CallMatch } from "./call-log.js";

/** Writes an answer by hand; `gone` aborts when the client or the server ended the connection. */
export type WriteAnswer = (response: ServerResponse, call: ApiCall, gone: AbortSignal) => void | Promise<void>;

export interface Failure {
  /** HTTP status, e.g. 500, 503, 429. */
  code: number;
  message?: string;
  reason?: string;
  /** Seconds, as a Retry-After header. */
  retryAfter?: number;
}

export interface Extent {
  /** Part of the matching calls, 0 to 1; default all. */
  share?: number;
  /** At most so many times; default for good. */
  times?: number;
}

export type Action =
  | { kind: "fail"; failure: Failure }
  | { kind: "delay"; ms: number }
  /** No answer until the fault is taken back. */
  | { kind: "hang"; over: AbortSignal }
  /** Answered by the test's own words, whatever was asked. */
  | { kind: "answer"; write: WriteAnswer }
  /** The connection drops: before anything happens, or after the call took effect. */
  | { kind: "drop"; when: "before" | "after" };

interface Fault {
  match: CallMatch;
  action: Action;
  share: number;
  left: number;
}

export class Faults {
  readonly #faults = new Set<Fault>();
  readonly #random = randomFrom(1);
  #cutter: Timer | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly watches: { cut(how: "end" | "drop"): void; expire(): void },
    private readonly compact: () => void,
  ) {}

  /** Matching calls are answered with an error and have no effect. */
  fail(match: CallMatch, failure: Failure, extent: Extent = {}): () => void {
    return this.#add(match, { kind: "fail", failure }, extent);
  }

  /** Matching calls wait before anything happens. */
  delay(match: CallMatch, ms: number, extent: Extent = {}): () => void {
    return this.#add(match, { kind: "delay", ms }, extent);
  }

  /** Matching calls get no answer; they go on when the fault is taken back. */
  hang(match: CallMatch, extent: Extent = {}): () => void {
    const over = new AbortController();
    const undo = this.#add(match, { kind: "hang", over: over.signal }, extent);
    const release = (): void => {
      undo();
      over.abort();
      this.#hanging.delete(release);
    };
    this.#hanging.add(release);
    return release;
  }
  readonly #hanging = new Set<() => void>();

  /** The connection of matching calls drops; `after`: they took effect, only the answer is lost. */
  drop(match: CallMatch, when: "before" | "after" = "before", extent: Extent = {}): () => void {
    return this.#add(match, { kind: "drop", when }, extent);
  }

  /** Matching calls have no effect; `write` answers them: rightly, wrongly, or without an end. */
  answer(match: CallMatch, write: WriteAnswer, extent: Extent = {}): () => void {
    return this.#add(match, { kind: "answer", write }, extent);
  }

  /** Ends all open watches every so often, politely or by dropping their connections. */
  cutWatches(everyMs: number, how: "end" | "drop" = "end"): () => void {
    this.#cutter?.cancel();
    const timer = this.clock.every(everyMs, () => this.watches.cut(how)).unref();
    this.#cutter = timer;
    return () => timer.cancel();
  }

  /** Ends all open watches once. */
  cutWatchesNow(how: "end" | "drop" = "end"): void {
    this.watches.cut(how);
  }

  /** Open watches get an ERROR event with 410; all versions up to now count as compacted. */
  expireWatches(): void {
    this.compact();
    this.watches.expire();
  }

  /** Takes back everything. */
  clear(): void {
    this.#faults.clear();
    this.#cutter?.cancel();
    for (const release of [...this.#hanging]) release();
  }

  /** The faults of a call, in the order in which they were set. Delays add up, the first other one ends it. */
  take(call: ApiCall): Action[] {
    const actions: Action[] = [];
    for (const fault of this.#faults) {
      if (!matches(call, fault.match) || fault.left <= 0) continue;
      if (fault.share < 1 && this.#random() >= fault.share) continue;
      fault.left--;
      actions.push(fault.action);
      if (fault.action.kind !== "delay") break;
    }
    return actions;
  }

  #add(match: CallMatch, action: Action, { share = 1, times = Infinity }: Extent): () => void {
    const fault: Fault = { match, action, share, left: times };
    this.#faults.add(fault);
    return () => {
      this.#faults.delete(fault);
    };
  }
}
