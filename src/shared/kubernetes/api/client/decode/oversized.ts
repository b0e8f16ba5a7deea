// The limit for one API object as JSON, and the handling of larger ones. JSON.parse holds the thread for 20 ms per
// MiB, so an object of any size would stop every pod's sync. Invariant: a larger object is skipped, never decoded and
// never kept in memory, except for its first bytes: they name it and say whether it is deleted (docs/adr/0130). The
// objects around it are read, so that one pod does not hide the others from the kubelet.

import { noteWork } from "../../../../base/turns/large-work.js";

/** As much as an API server takes in one request (etcd: 1.5 MiB). */
export const OBJECT_LIMIT = 3 * 1024 * 1024;

/** Bytes that one response may have before its first object, after its last object and between two of them. */
export const SHELL_LIMIT = 1024 * 1024;

/**
 * Bytes of a skipped object that are kept. Servers write names, versions and deletion before any long text.
 * @internal
 */
export const HEAD_BYTES = 16 * 1024;

/** Called once for each object that was skipped, with its first bytes. */
export type OnOversized = (head: Buffer) => void;

/** Blocks of one object as they come. Beyond the limit all but its head is forgotten. */
export class ObjectBlocks {
  private blocks: Buffer[] = [];
  private size = 0;
  /** First bytes of the object that was skipped last. */
  head: Buffer = Buffer.alloc(0);

  push(block: Buffer): void {
    const isOver = this.size > OBJECT_LIMIT;
    this.size += block.length;
    if (isOver) return;
    this.blocks.push(block);
    if (this.size > OBJECT_LIMIT) this.blocks = [headOf(this.blocks)];
  }

  /** Bytes of the object so far, those that were forgotten included. */
  get length(): number {
    return this.size;
  }

  /** The whole object, `undefined` when it is too large: `head` has its first bytes. Begins the next one. */
  take(last: Buffer): Buffer | undefined {
    const { blocks } = this;
    const length = this.size + last.length;
    this.blocks = [];
    this.size = 0;
    if (length > OBJECT_LIMIT) {
      this.head = headOf([...blocks, last]);
      return undefined;
    }
    noteWork(length);
    return blocks.length === 0 ? last : Buffer.concat([...blocks, last]);
  }
}

/** A copy: the blocks belong to the connection. */
export function headOf(blocks: readonly Buffer[]): Buffer {
  const first: Buffer[] = [];
  let left = HEAD_BYTES;
  for (const block of blocks) {
    if (left <= 0) break;
    first.push(block.subarray(0, left));
    left -= block.length;
  }
  return Buffer.concat(first);
}
