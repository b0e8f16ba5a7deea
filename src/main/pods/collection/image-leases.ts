// Grants access to an image: shared for callers that prepare containers with it, exclusive for its removal.
// Invariant: no removal is granted while the image is used or prepared; no caller prepares a granted image before its
// release; a grant ends with its thread. A pull may produce an image with another name, so its result is checked again.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { ImageNames, ImageProposal } from "../../../shared/contracts/image-gc.js";
import { keysOfImage, keysOfReference } from "../../../shared/kubernetes/api/image-keys.js";

/** A removal went on for too long for a start to wait for it. */
export class ImageBeingRemovedError extends Error {
  override readonly name = "ImageBeingRemovedError";
  constructor(image: string, waitedMs: number) {
    super(
      `image ${quote(image)} is being removed by image garbage collection for ${waitedMs / 1000} s; the runtime is slow`,
    );
  }
}

/** Longer than the call that removes an image may take. */
const MAX_WAIT_MS = 150_000;

interface Grant {
  keys: ReadonlySet<string>;
  released: Promise<void>;
  release(): void;
}

interface Held {
  keys: Set<string>;
  /** Keys of images whose removal ran at some time since the image was last looked up. */
  missed: Set<string>;
}

export interface ImageLease {
  /**
   * Resolves the name to the present image. False: the image was removed in the meantime, or is being removed; after
   * that removal the image must be prepared again.
   */
  holds(image: string, signal: AbortSignal): Promise<boolean>;
  end(): void;
}

export class ImageLeases {
  private readonly leases = new Set<Held>();
  /** By image id. */
  private readonly grants = new Map<string, Grant>();
  private generation: number | undefined;

  constructor(
    /** Keys of all images in use; undefined while that is not known. */
    private readonly used: () => ReadonlySet<string> | undefined,
    private readonly clock: Clock,
  ) {}

  threadStarted(generation: number): void {
    this.releaseAll();
    this.generation = generation;
  }

  /** Its calls ended with it. */
  threadGone(): void {
    this.releaseAll();
    this.generation = undefined;
  }

  /** Ids of those that may be removed. Earlier grants of the thread are released. */
  grant({ generation, images }: ImageProposal): string[] {
    if (generation !== this.generation) return [];
    this.releaseAll();
    const used = this.used();
    if (used === undefined) return [];
    const free = images.filter((image) => {
      const keys = keysOfImage(image);
      return !keys.some((key) => used.has(key) || this.isLeased(key));
    });
    for (const image of free) this.addGrant(image);
    return free.map(({ id }) => id);
  }

  release(generation: number, ids: readonly string[]): void {
    if (generation !== this.generation) return;
    for (const id of ids) this.endGrant(id);
  }

  /** Images granted and not yet released. */
  get granted(): number {
    return this.grants.size;
  }

  /**
   * Leases the image for a pull or start. Resolves when no removal of it is under way; rejects with the signal's
   * reason, or with ImageBeingRemovedError.
   */
  async lease(reference: string, signal: AbortSignal): Promise<ImageLease> {
    const held: Held = { keys: new Set(keysOfReference(reference)), missed: new Set() };
    // From now on no further removal of it is granted.
    this.leases.add(held);
    try {
      await this.waitUntilFree(reference, held.keys, signal);
    } catch (error) {
      this.leases.delete(held);
      throw error;
    }
    held.missed = this.keysUnderWay();
    return {
      holds: async (image, waitSignal) => {
        const keys = keysOfReference(image);
        for (const key of keys) held.keys.add(key);
        if (!keys.some((key) => held.missed.has(key))) return true;
        await this.waitUntilFree(image, new Set(keys), waitSignal);
        held.missed = this.keysUnderWay();
        return false;
      },
      end: () => void this.leases.delete(held),
    };
  }

  private keysUnderWay(): Set<string> {
    return new Set([...this.grants.values()].flatMap(({ keys }) => [...keys]));
  }

  private isLeased(key: string): boolean {
    for (const { keys } of this.leases) if (keys.has(key)) return true;
    return false;
  }

  private addGrant(image: ImageNames): void {
    const keys = new Set(keysOfImage(image));
    for (const lease of this.leases) for (const key of keys) lease.missed.add(key);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.grants.set(image.id, { keys, released, release });
  }

  private endGrant(id: string): void {
    this.grants.get(id)?.release();
    this.grants.delete(id);
  }

  private releaseAll(): void {
    for (const id of [...this.grants.keys()]) this.endGrant(id);
  }

  private async waitUntilFree(image: string, keys: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const startedAt = this.clock.monotonic();
    for (;;) {
      signal.throwIfAborted();
      const grant = [...this.grants.values()].find((candidate) => [...keys].some((key) => candidate.keys.has(key)));
      if (grant === undefined) return;
      const waitedMs = this.clock.monotonic() - startedAt;
      if (waitedMs >= MAX_WAIT_MS) throw new ImageBeingRemovedError(image, waitedMs);
      await this.either(grant.released, MAX_WAIT_MS - waitedMs, signal);
    }
  }

  /** The release, the end of patience or the signal, whichever comes first. */
  private either(released: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        timer.cancel();
        signal.removeEventListener("abort", finish);
        resolve();
      };
      const timer = this.clock.after(ms, finish);
      signal.addEventListener("abort", finish, { once: true });
      void released.then(finish);
    });
  }
}
