// All objects of one kind that the node may read. The watch starts with the first read.

import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { ApiObject, ResourceKind } from "../../../shared/kubernetes/api/client/port.js";
import type { Follow } from "../watching.js";

export interface CollectionOptions<T extends ApiObject> {
  kind: ResourceKind<T>;
  follow: Follow;
  clock: Pick<Clock, "after">;
  /** Reduces each object to the part to keep. */
  transform?: (object: T) => T;
  onChange?: (() => void) | undefined;
}

/** A read waits this long for the first list. */
const FIRST_LIST_MS = 10_000;

export class Collection<T extends ApiObject> {
  private readonly objects = new Map<string, T>();
  private listed: readonly T[] | undefined;
  private end: (() => void) | undefined;
  private synced = false;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly options: CollectionOptions<T>) {}

  /** Idempotent. */
  start(): void {
    if (this.end !== undefined) return;
    const { kind, follow, transform, onChange } = this.options;
    this.end = follow<T>({
      kind,
      transform,
      onReplace: (objects) => {
        this.objects.clear();
        for (const object of objects) this.objects.set(keyOf(object), object);
        this.changed();
        onChange?.();
      },
      onEvent: ({ type, object }) => {
        if (type === "DELETED") this.objects.delete(keyOf(object));
        else this.objects.set(keyOf(object), object);
        this.changed();
        onChange?.();
      },
    });
  }

  /** undefined before the first list. */
  peek(): readonly T[] | undefined {
    return this.synced ? (this.listed ??= [...this.objects.values()]) : undefined;
  }

  /**
   * Waits for the first list, ten seconds at most: undefined when it has not come. Rejects with the signal's reason.
   */
  async all(signal: AbortSignal): Promise<readonly T[] | undefined> {
    this.start();
    if (!this.synced) await this.firstList(signal);
    return this.peek();
  }

  stop(): void {
    this.end?.();
    for (const done of this.waiting) done();
  }

  private changed(): void {
    this.listed = undefined;
    this.synced = true;
    for (const done of [...this.waiting]) done();
  }

  private async firstList(signal: AbortSignal): Promise<void> {
    let timer: Timer | undefined;
    let done = (): void => undefined;
    const list = new Promise<void>((resolve) => {
      done = resolve;
      this.waiting.add(done);
      timer = this.options.clock.after(FIRST_LIST_MS, resolve);
    });
    try {
      await unlessAborted(list, signal);
    } finally {
      this.waiting.delete(done);
      timer?.cancel();
    }
  }
}

function keyOf({ metadata: { namespace = "", name = "" } }: ApiObject): string {
  return `${namespace}/${name}`;
}
