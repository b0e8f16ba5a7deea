// Records of each image: when it was first seen, and when it was last seen in use. Kept in memory.
import type { ImageNames } from "../../shared/contracts/image-gc.js";

export interface ImageRecord extends ImageNames {
  /** Bytes. */
  size: number;
  /** The runtime needs it itself. */
  pinned: boolean;
  inUse: boolean;
  /** By the steady clock, as all times here. */
  firstSeen: number;
  /** NEVER: no use was seen. */
  lastUsed: number;
}

export type ListedImage = Pick<ImageRecord, "id" | "repoTags" | "repoDigests" | "size" | "pinned">;

/** Before any time: an image that was there before us is old, one that was never used was used longest ago. */
export const NEVER = 0;

export class ImageRecords {
  private readonly records = new Map<string, ImageRecord>();

  /** Takes over what the runtime lists. Images seen for the first time are `firstSeen` then. */
  update(listed: readonly ListedImage[], inUse: ReadonlySet<string>, now: number, firstSeen: number): void {
    const ids = new Set(listed.map(({ id }) => id));
    for (const id of this.records.keys()) if (!ids.has(id)) this.records.delete(id);
    for (const image of listed) {
      const known = this.records.get(image.id);
      const used = inUse.has(image.id);
      this.records.set(image.id, {
        ...image,
        inUse: used,
        firstSeen: known?.firstSeen ?? firstSeen,
        lastUsed: used ? now : (known?.lastUsed ?? NEVER),
      });
    }
  }

  forget(id: string): void {
    this.records.delete(id);
  }

  all(): ImageRecord[] {
    return [...this.records.values()];
  }
}
