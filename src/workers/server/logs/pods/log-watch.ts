// Wakes the follower of a log by inotify. If the node has no free inotify instance, the check of each second wakes it.
// Invariant: losing inotify costs a follower time, never lines.

import { Scope } from "../../../../shared/base/abort/scope.js";
import { sleepOn, type Clock } from "../../../../shared/base/clock/clock.js";
import { NativeBindingError, isOsCallError } from "../../../../shared/io/os/errors.js";
import { IN, Inotify, type InotifyEvent } from "../../../../shared/io/os/inotify.js";

/** Why a wait ended: the file grew; another change is possible; no event arrived. */
export type Wake = "grew" | "changed" | "timeout";

/** Reports that the followed file is complete, or was renamed. */
const ENDS = IN.CLOSE_WRITE | IN.MOVE_SELF;
/** While a file grows it is read this often, and not for each line. */
const REST_MS = 100;

export class LogWatch implements Disposable {
  /** A writer has closed the file followed now: when no writer has it open any more, it is whole. */
  closed = false;
  private inotify: Inotify | undefined;
  private file: number | undefined;
  /** inotify's watch descriptor of the file that is read now. */
  private descriptor = -1;
  /** Whether growth is reported. */
  private listening = false;
  private pending: Wake | undefined;
  private wake: (() => void) | undefined;

  constructor(
    private readonly clock: Pick<Clock, "after">,
    directory: string,
    /** False: without inotify. */
    events = true,
  ) {
    if (!events) return;
    this.attempt(() => {
      this.inotify = new Inotify({
        onEvents: (events) => this.onEvents(events),
        onError: () => this.closeInotify(),
      });
      this.inotify.watch(directory, IN.CREATE | IN.MOVED_FROM | IN.MOVED_TO | IN.DELETE);
    });
  }

  /** Follows this open file from now on, under any later name. */
  follow(descriptor: number): void {
    this.closed = false;
    this.descriptor = descriptor;
    this.listen(true);
  }

  /**
   * Until something happened since the last wait, or `ms` have passed. For a reader that `found` something since the
   * last wait it is a short rest, in which lines gather. Rejects with the signal's reason.
   */
  async wait(ms: number, signal: AbortSignal, found = false): Promise<Wake> {
    signal.throwIfAborted();
    if (found) this.listen(false);
    else if (!this.listening && this.inotify !== undefined) {
      this.listen(true);
      // Growth that came before and was not reported.
      this.pending ??= "grew";
    }
    if (this.pending === undefined) await this.nextEvent(found ? REST_MS : ms, signal);
    const woke = this.pending ?? (found ? "grew" : "timeout");
    this.pending = undefined;
    return woke;
  }

  [Symbol.dispose](): void {
    this.closeInotify();
  }

  /** The mask of a file that is watched already is replaced. */
  private listen(growth: boolean): void {
    this.listening = growth;
    this.attempt(() => {
      if (this.inotify === undefined) return;
      const before = this.file;
      this.file = this.inotify.watch(`/proc/self/fd/${this.descriptor}`, growth ? ENDS | IN.MODIFY : ENDS);
      if (before !== undefined && before !== this.file) this.inotify.unwatch(before);
    });
  }

  private async nextEvent(ms: number, signal: AbortSignal): Promise<void> {
    using rest = new Scope(signal);
    this.wake = () => rest.abort(new Error("something happened to the log"));
    try {
      await sleepOn(this.clock, ms, rest.signal);
    } catch (error) {
      if (!rest.signal.aborted || signal.aborted) throw error;
    } finally {
      this.wake = undefined;
    }
  }

  private onEvents(events: readonly InotifyEvent[]): void {
    for (const { watch, mask } of events) {
      const own = watch === this.file;
      if (own && (mask & IN.CLOSE_WRITE) !== 0) this.closed = true;
      if (own && mask === IN.MODIFY) this.pending ??= "grew";
      else if (own || (mask & IN.IGNORED) === 0) this.pending = "changed";
    }
    if (this.pending !== undefined) this.wake?.();
  }

  private closeInotify(): void {
    this.inotify?.[Symbol.dispose]();
    this.inotify = undefined;
    this.file = undefined;
  }

  /** Out of instances or watches, or a kernel without /proc: the poll does it. */
  private attempt(use: () => void): void {
    try {
      use();
    } catch (error) {
      if (!isOsCallError(error) && !(error instanceof NativeBindingError)) throw error;
      this.closeInotify();
    }
  }
}
