// The latest changes, for watches and for lists of earlier versions. Its size is bounded: versions before it are gone.

import type { ApiObject } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";

export const MAX_CHANGES = 4096;
/** Most bytes in the heap of the changed objects that are kept. */
const MAX_BYTES = 8 * 1024 * 1024;

export interface Change {
  readonly revision: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly resource: Resource;
  /** namespace/name, or name. */
  readonly key: string;
  readonly object: ApiObject;
  readonly previous?: ApiObject | undefined;
  /** It has no use after a loss of power, such as the renewal of a lease, and stays in memory. */
  readonly isFleeting: boolean;
}

export class History {
  readonly #changes: { change: Change; bytes: number }[] = [];
  #bytes = 0;

  /** @param compacted versions below it are gone */
  constructor(private compactedTo: number) {}

  get compacted(): number {
    return this.compactedTo;
  }

  add(change: Change, bytes: number): void {
    this.#changes.push({ change, bytes });
    this.#bytes += bytes;
    let dropped = 0;
    while (this.#changes.length - dropped > MAX_CHANGES || this.#bytes > MAX_BYTES) {
      const oldest = this.#changes[dropped];
      if (oldest === undefined) break;
      this.#bytes -= oldest.bytes;
      this.compactedTo = oldest.change.revision;
      dropped++;
    }
    // In pieces: a shift for each change would move them all.
    if (dropped > 0) this.#changes.splice(0, dropped);
  }

  /** Changes after a revision, oldest first. */
  since(resource: Resource, revision: number): Change[] {
    const found: Change[] = [];
    for (let at = this.#changes.length - 1; at >= 0; at--) {
      const change = this.#changes[at]?.change;
      if (change === undefined || change.revision <= revision) break;
      if (change.resource.storage === resource.storage) found.push(change);
    }
    return found.reverse();
  }
}
