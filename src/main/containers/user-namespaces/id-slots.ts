// Which pod has which ids, and the ids of its sandboxes in the runtime. Invariant: no two pods have an id in common,
// even after a change of the settings.

import { invariant } from "../../../shared/base/errors/invariant.js";
import { type IdRange } from "./id-range.js";
import { UserNamespaceError } from "./user-namespace-error.js";

/** No UID has a "/". */
const blockKey = (uid: string, index: number): string => `${uid}/${index}`;

export class IdSlots {
  private readonly used = new Map<string, IdRange>();

  of(uid: string): IdRange | undefined {
    return this.used.get(uid);
  }

  /** The lowest free slot of `size` ids in `range`. Throws UserNamespaceError when there is none. */
  allocate(uid: string, range: IdRange, size: number): IdRange {
    invariant(size >= 1, "a pod gets at least one id");
    invariant(!this.used.has(uid), "a pod gets its ids once until they are released");
    const taken = [...this.used.values()].sort((a, b) => a.first - b.first);
    const end = range.first + range.length;
    let first = range.first;
    for (const other of taken) {
      if (first + size <= other.first) break;
      const past = other.first + other.length;
      // The next slot that begins behind the other's last id.
      if (past > first) first = range.first + Math.ceil((past - range.first) / size) * size;
    }
    if (first + size > end) {
      throw new UserNamespaceError(`none of the ids ${range.first} to ${end - 1} is free for another pod`);
    }
    const slot = { first, length: size };
    this.used.set(uid, slot);
    return slot;
  }

  /**
   * Records the ids that an earlier kubelet gave to a pod. Throws UserNamespaceError when another pod has some of them.
   */
  claim(uid: string, slot: IdRange): void {
    const known = this.used.get(uid);
    if (known !== undefined && (known.first !== slot.first || known.length !== slot.length)) {
      throw new UserNamespaceError(
        `the pod already has the ids from ${known.first} on, not those from ${slot.first} on`,
      );
    }
    for (const [other, { first, length }] of this.used) {
      if (other === uid || slot.first >= first + length || first >= slot.first + slot.length) continue;
      throw new UserNamespaceError(`the ids from ${slot.first} on are those of pod ${other} too`);
    }
    this.used.set(uid, slot);
  }

  /** Keeps ids from being handed out while the pod is there, whichever pod has them. */
  block(uid: string, slots: readonly IdRange[]): void {
    for (const [index, slot] of slots.entries()) this.used.set(blockKey(uid, index), slot);
  }

  release(uid: string): void {
    this.used.delete(uid);
    for (let index = 0; this.used.delete(blockKey(uid, index)); index++);
  }
}
