// Records of each image: the times of its first detection and of its last use. Main keeps them between two rounds.

import { NEVER, type ImageNames, type KnownImage } from "../../shared/contracts/image-gc.js";

export interface ImageRecord extends ImageNames {
  /** The handler for which the runtime keeps the image; "" without the gate RuntimeClassInImageCriApi. */
  runtimeHandler: string;
  /** Bytes. */
  size: number;
  /** The runtime needs it itself. */
  pinned: boolean;
  inUse: boolean;
  /** By the monotonic clock, as all times here. */
  firstSeen: number;
  /** NEVER: no use was detected. */
  lastUsed: number;
}

export type ListedImage = Pick<ImageRecord, "id" | "runtimeHandler" | "repoTags" | "repoDigests" | "size" | "pinned">;

/** A runtime may list an image once for each handler. */
export function recordKey({ id, runtimeHandler }: Pick<ImageRecord, "id" | "runtimeHandler">): string {
  return `${id},${runtimeHandler}`;
}

export class ImageRecords {
  /** By recordKey. */
  private readonly records = new Map<string, ImageRecord>();
  /** What the rounds before have found, by recordKey. */
  private readonly earlier: ReadonlyMap<string, KnownImage>;

  constructor(history: readonly KnownImage[] = []) {
    this.earlier = new Map(history.map((image) => [recordKey(image), image]));
  }

  /**
   * Takes over the runtime's list of images; `inUse` has record keys. Images seen for the first time are `firstSeen`
   * then.
   */
  update(listed: readonly ListedImage[], inUse: ReadonlySet<string>, now: number, firstSeen: number): void {
    const keys = new Set(listed.map(recordKey));
    for (const key of this.records.keys()) if (!keys.has(key)) this.records.delete(key);
    for (const image of listed) {
      const key = recordKey(image);
      const known = this.records.get(key) ?? this.earlier.get(key);
      const used = inUse.has(key);
      this.records.set(key, {
        ...image,
        inUse: used,
        firstSeen: known?.firstSeen ?? firstSeen,
        lastUsed: used ? now : (known?.lastUsed ?? NEVER),
      });
    }
  }

  forget(image: Pick<ImageRecord, "id" | "runtimeHandler">): void {
    this.records.delete(recordKey(image));
  }

  /** For main, which gives them to the next round. */
  known(): KnownImage[] {
    return this.all().map(({ id, runtimeHandler, inUse, pinned, firstSeen, lastUsed }) => ({
      id,
      runtimeHandler,
      unused: !inUse && !pinned,
      firstSeen,
      lastUsed,
    }));
  }

  all(): ImageRecord[] {
    return [...this.records.values()];
  }
}
