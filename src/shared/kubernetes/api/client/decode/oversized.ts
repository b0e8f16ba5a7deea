// The limit for one API object as JSON, and the handling of larger ones. JSON.parse holds the thread for 20 ms per
// MiB, so an object of any size would stop every pod's sync. Invariant: a larger object is skipped, never decoded and
// never kept in memory. The objects around it are read, so that one pod does not hide the others from the kubelet.

import { noteWork } from "../../../../base/turns/large-work.js";

/** As much as an API server takes in one request (etcd: 1.5 MiB). */
export const OBJECT_LIMIT = 3 * 1024 * 1024;

/** Bytes that one response may have before its first object, after its last object and between two of them. */
export const SHELL_LIMIT = 1024 * 1024;

/** Called once for each object that was skipped. */
export type OnOversized = () => void;

/** Blocks of one object as they come. Beyond the limit they are forgotten, and the object is empty. */
export class ObjectBlocks {
  private blocks: Buffer[] = [];
  private size = 0;

  push(block: Buffer): void {
    this.size += block.length;
    if (this.size > OBJECT_LIMIT) this.blocks = [];
    else this.blocks.push(block);
  }

  /** Bytes of the object so far, those that were forgotten included. */
  get length(): number {
    return this.size;
  }

  /** The whole object, `undefined` when it is too large; begins the next one. */
  take(last: Buffer): Buffer | undefined {
    const { blocks } = this;
    const length = this.size + last.length;
    this.blocks = [];
    this.size = 0;
    if (length > OBJECT_LIMIT) return undefined;
    noteWork(length);
    return blocks.length === 0 ? last : Buffer.concat([...blocks, last]);
  }
}
