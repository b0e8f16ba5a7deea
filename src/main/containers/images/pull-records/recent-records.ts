// A cache of the pull records used last: a pod start reads one per container, and the disk is slow.
// Full policy: drops the record that was unused for the longest time; its file stays.

import type { ImagePulledRecord } from "./record.js";

export class RecentRecords {
  private readonly records = new Map<string, ImagePulledRecord>();

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.records.size;
  }

  refs(): string[] {
    return [...this.records.keys()];
  }

  get(imageRef: string): ImagePulledRecord | undefined {
    return this.records.get(imageRef);
  }

  delete(imageRef: string): void {
    this.records.delete(imageRef);
  }

  /** Also records the use. */
  set(record: ImagePulledRecord): void {
    this.records.delete(record.imageRef);
    this.records.set(record.imageRef, record);
    const [oldest] = this.records.keys();
    if (this.records.size > this.limit && oldest !== undefined) this.records.delete(oldest);
  }
}
