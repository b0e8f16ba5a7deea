// Sends a thread its copy of each pod in small pieces: all pods after each start, and changes afterwards. Between two
// pieces main's loop turns. A piece that does not arrive is sent again, with newer values where there are some
// (docs/adr/0080). A pod changes some ten times while it starts or ends: changes are collected for a moment, and only
// the newest value is sent (docs/adr/0135).
// Invariant: pieces are sent one after the other; the newest value of every pod arrives at last while the thread runs;
// no value is held while the thread is away.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import type { LoopShare } from "../../shared/base/turns/loop-share.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";

/** Characters of one piece, about; one larger pod is a piece of its own. */
const PIECE_SIZE = 256 * 1024;
const PIECE_PODS = 250;
const RETRY_MS = 1000;
/** A thread that does not have all pods after this time runs without the rest, which follows. */
const PATIENCE_MS = 5000;

/** What one value becomes in a message, and its characters. */
interface Encoded<Item> {
  item: Item;
  size: number;
}

export interface PodDeltasOptions<Value, Item> {
  /** Name of the thread, for messages. */
  thread: string;
  encode(value: Value): Encoded<Item>;
  send(set: Item[], gone: PodUid[]): Promise<void>;
  /** Milliseconds for which changes are collected before they are sent; 0: none. */
  collectMs: number;
  /** Each piece is made and sent in a turn of main's loop: that of a large pod takes tens of milliseconds. */
  turns?: Pick<LoopShare, "turn">;
  /** It is not known whether the thread has the value of the pod with this UID. */
  unsure?(uid: PodUid): void;
  clock: Pick<Clock, "after">;
  log: Pick<Logger, "info" | "warn">;
}

export class PodDeltas<Value, Item = Value> {
  private set = new Map<PodUid, Value>();
  private gone = new Set<PodUid>();
  private state: "away" | "joining" | "open" = "away";
  private sending = false;
  /** Starts and exits of the thread so far. */
  private changes = 0;
  /** Resolves when the pieces that are being sent have arrived, or failed. */
  private sent: Promise<void> = Promise.resolve();
  private failing = false;
  private retry: Timer | undefined;
  private collecting: Timer | undefined;
  /** Called when everything was sent, or the thread has left. */
  private onIdle: (() => void) | undefined;

  constructor(private readonly options: PodDeltasOptions<Value, Item>) {}

  /** The thread takes changes. */
  get joined(): boolean {
    return this.state === "open";
  }

  /** Pods whose newest version is still to be sent. */
  get behind(): number {
    return this.set.size + this.gone.size;
  }

  change(set: Iterable<readonly [PodUid, Value]>, gone: Iterable<PodUid>): void {
    // A thread that is away receives everything at its next start.
    if (this.state === "away") return;
    for (const [uid, value] of set) {
      this.set.set(uid, value);
      this.gone.delete(uid);
    }
    for (const uid of gone) {
      this.set.delete(uid);
      this.gone.add(uid);
    }
    const { collectMs, clock } = this.options;
    if (collectMs === 0) void this.sendNow();
    else this.collecting ??= clock.after(collectMs, () => void this.sendNow()).unref();
  }

  /** Resolves when the thread has every change so far, or when it is known that it does not take them now. */
  sendNow(): Promise<void> {
    this.collecting?.cancel();
    this.collecting = undefined;
    if (this.retry !== undefined) return Promise.resolve();
    if (!this.sending) this.sent = this.sendAll();
    return this.sent;
  }

  /**
   * `begin` empties the thread's set, or fills it whole. `all` reads the pods that are sent then, when it is called.
   * Resolves when they are sent, or after PATIENCE_MS: the thread runs without the rest then, and a warning says so.
   * Rejects when `begin` does.
   */
  async join(begin: () => Promise<void>, all: () => Iterable<readonly [PodUid, Value]> = () => []): Promise<void> {
    this.clear();
    this.state = "joining";
    await begin();
    if (!this.isJoining()) return;
    for (const [uid, value] of all()) this.set.set(uid, value);
    this.state = "open";
    await this.sentOrLate();
  }

  /** The thread has exited. */
  leave(): void {
    this.state = "away";
    this.clear();
    this.onIdle?.();
  }

  private clear(): void {
    this.changes++;
    this.set = new Map();
    this.gone = new Set();
    this.failing = false;
    this.retry?.cancel();
    this.retry = undefined;
    this.collecting?.cancel();
    this.collecting = undefined;
  }

  /** Asked after a wait, in which the thread may have left. */
  private isJoining(): boolean {
    return this.state === "joining";
  }

  private async sentOrLate(): Promise<void> {
    const { thread, clock, log } = this.options;
    await new Promise<void>((resolve) => {
      const timer = clock.after(PATIENCE_MS, () => {
        log.warn(
          { thread, missing: this.set.size },
          `the ${thread} thread runs without ${this.set.size} pods: they did not arrive within ${PATIENCE_MS} ms, and follow`,
        );
        done();
      });
      const done = (): void => {
        timer.cancel();
        this.onIdle = undefined;
        resolve();
      };
      this.onIdle = done;
      void this.sendNow();
    });
  }

  private async sendAll(): Promise<void> {
    const { turns } = this.options;
    this.sending = true;
    try {
      while (this.state === "open" && this.set.size + this.gone.size > 0) {
        if (turns !== undefined) await turns.turn();
        if (!(await this.sendPiece())) return;
      }
      if (this.state === "open") this.onIdle?.();
    } finally {
      this.sending = false;
    }
  }

  /** @returns false when it did not arrive */
  private async sendPiece(): Promise<boolean> {
    const { options, gone, changes } = this;
    const taken: [PodUid, Value][] = [];
    const items: Item[] = [];
    this.gone = new Set();
    try {
      let size = 0;
      for (const [uid, value] of this.set) {
        this.set.delete(uid);
        taken.push([uid, value]);
        const encoded = options.encode(value);
        items.push(encoded.item);
        size += encoded.size;
        if (size >= PIECE_SIZE || items.length === PIECE_PODS) break;
      }
      if (size >= PIECE_SIZE && options.turns !== undefined) await options.turns.turn();
      // The next thread gets all pods, and a piece for the last one may lack what that one had.
      if (this.changes !== changes) return true;
      await options.send(items, [...gone]);
      this.onSent();
      return true;
    } catch (error) {
      if (this.state === "open") this.putBack(taken, gone, error);
      return false;
    }
  }

  private onSent(): void {
    if (!this.failing) return;
    this.failing = false;
    const { thread, log } = this.options;
    log.info({ thread }, `the ${thread} thread accepts changes of pods again`);
  }

  private putBack(taken: readonly [PodUid, Value][], gone: ReadonlySet<PodUid>, error: unknown): void {
    const { options } = this;
    const { thread, clock, log } = options;
    for (const [uid, value] of taken) {
      options.unsure?.(uid);
      if (!this.set.has(uid) && !this.gone.has(uid)) this.set.set(uid, value);
    }
    for (const uid of gone) if (!this.set.has(uid)) this.gone.add(uid);
    this.retry = clock
      .after(RETRY_MS, () => {
        this.retry = undefined;
        void this.sendNow();
      })
      .unref();
    if (this.failing) return;
    this.failing = true;
    log.warn(
      { thread, err: error },
      `the ${thread} thread did not accept changes of pods and shows older ones; they are sent again: ${errorText(error)}`,
    );
  }
}
