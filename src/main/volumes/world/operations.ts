// The running operations on volumes.
// Invariant: one operation per volume at a time; a failed one is not repeated before its back-off expires; an operation
// that hangs delays only its own volume.

import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { type MonotonicTime, later, monotonicTime } from "../../../shared/base/clock/moments.js";
import { invariant } from "../../../shared/base/errors/invariant.js";
import { Backoff } from "../../../shared/base/turns/backoff.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { volumeOperationPendingError } from "../errors.js";

/** Before every moment. */
const AT_ONCE = monotonicTime(0);
/** Back-off of a volume whose operation failed; upstream's values. */
const RETRY = { initialMs: 500, maxMs: 122_000 };

export type VolumeOperation = "set-up" | "tear-down";

interface Entry {
  /** The key of the back-off: a teardown does not wait for a failed set-up. */
  operation: VolumeOperation;
  /** Settles, never rejects, when the pending operation has ended. */
  running: Promise<void> | undefined;
  /** Start of the pending operation, or of the last one. */
  startedAt: MonotonicTime;
  backoff: Backoff;
  notBefore: MonotonicTime;
  lastError: unknown;
  /** The pod is removed: its entry is dropped after the pending operation. */
  forgotten: boolean;
}

export class VolumeOperations {
  private readonly entries = new Map<string, Entry>();
  /** Operations that wait for their back-off. */
  private readonly resting = new Map<string, AbortController>();

  constructor(private readonly clock: Clock) {}

  /**
   * Waits for the volume's turn and the end of its back-off. Rejects with the set-up's error or the signal's reason.
   */
  async setUp<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      const { running, waitMs } = this.state(key, "set-up");
      if (running !== undefined) await unlessAborted(running, signal);
      else if (waitMs > 0) await this.rest(key, waitMs, signal);
      else return this.start(key, "set-up", work);
    }
  }

  /**
   * Does not wait: the caller retries by itself. @throws VolumeError while another operation runs; the
   * last error again before the back-off of a failed operation expires; the teardown's own error
   */
  async tearDown<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { running, waitMs, lastError } = this.state(key, "tear-down");
    if (running !== undefined) throw volumeOperationPendingError(key);
    if (waitMs > 0) throw lastError;
    return this.start(key, "tear-down", work);
  }

  /**
   * Does nothing while something else is being done to the volume; a failure starts no back-off. Rejects as `work`
   * does.
   */
  async refresh(key: string, work: () => Promise<void>): Promise<void> {
    const known = this.entries.get(key);
    if (known?.running !== undefined) return;
    const entry = known ?? newEntry("set-up");
    this.entries.set(key, entry);
    const result = work();
    const over = (): void => {
      entry.running = undefined;
      if (entry.forgotten || entry.backoff.failures === 0) this.entries.delete(key);
    };
    entry.running = result.then(over, over);
    await result;
  }

  /** The cause of failed set-ups of the pod may be resolved: retry at once. */
  retryNow(uid: PodUid): void {
    for (const [key, entry] of this.entries) {
      if (key.startsWith(`${uid}/`) && entry.operation === "set-up") entry.notBefore = AT_ONCE;
    }
    for (const [key, resting] of this.resting) {
      if (key.startsWith(`${uid}/`)) resting.abort(new Error("tried again sooner"));
    }
  }

  /** The pod's volumes are down; failures of set-ups that left nothing on disk are kept no longer. */
  forgetPod(uid: PodUid): void {
    for (const [key, entry] of this.entries) {
      if (!key.startsWith(`${uid}/`)) continue;
      if (entry.running === undefined) this.entries.delete(key);
      else entry.forgotten = true;
    }
  }

  /** The operation of a volume that runs or waits for its next try; ages are milliseconds. */
  describe(key: string): { runningForMs?: number | undefined; lastError?: unknown; restMs?: number | undefined } {
    const entry = this.entries.get(key);
    if (entry === undefined) return {};
    const now = this.clock.monotonic();
    return {
      runningForMs: entry.running !== undefined ? now - entry.startedAt : undefined,
      lastError: entry.lastError,
      restMs: entry.running === undefined && entry.notBefore > now ? entry.notBefore - now : undefined,
    };
  }

  private state(key: string, operation: VolumeOperation): Pick<Entry, "running" | "lastError"> & { waitMs: number } {
    const entry = this.entries.get(key);
    if (entry === undefined) return { running: undefined, lastError: undefined, waitMs: 0 };
    const waitMs = entry.operation === operation ? entry.notBefore - this.clock.monotonic() : 0;
    return { running: entry.running, lastError: entry.lastError, waitMs };
  }

  private async rest(key: string, ms: number, signal: AbortSignal): Promise<void> {
    const resting = new AbortController();
    const onAbort = (): void => resting.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    this.resting.set(key, resting);
    try {
      await this.clock.sleep(ms, resting.signal);
    } catch {
      signal.throwIfAborted();
    } finally {
      this.resting.delete(key);
      signal.removeEventListener("abort", onAbort);
    }
  }

  private start<T>(key: string, operation: VolumeOperation, work: () => Promise<T>): Promise<T> {
    const known = this.entries.get(key);
    invariant(known?.running === undefined, "one operation at a time runs on a volume");
    const entry = known?.operation === operation ? known : newEntry(operation);
    this.entries.set(key, entry);
    entry.startedAt = this.clock.monotonic();
    const result = work();
    entry.running = result.then(
      () => {
        this.entries.delete(key);
      },
      (error: unknown) => {
        entry.running = undefined;
        if (entry.forgotten) this.entries.delete(key);
        entry.lastError = error;
        entry.notBefore = later(this.clock.monotonic(), entry.backoff.next());
      },
    );
    return result;
  }
}

function newEntry(operation: VolumeOperation): Entry {
  return {
    operation,
    running: undefined,
    startedAt: AT_ONCE,
    backoff: new Backoff(RETRY),
    notBefore: AT_ONCE,
    lastError: undefined,
    forgotten: false,
  };
}
