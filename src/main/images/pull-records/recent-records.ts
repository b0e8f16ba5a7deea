// The records used last, in memory: a pod that starts asks for one per container, and the disk is slow to say so.
// Full policy: the one that was not used for the longest time goes; its file stays.
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

  /** Also tells that it was used. */
  set(record: ImagePulledRecord): void {
    this.records.delete(record.imageRef);
    this.records.set(record.imageRef, record);
    const [oldest] = this.records.keys();
    if (this.records.size > this.limit && oldest !== undefined) this.records.delete(oldest);
  }
}
