// Puts pods together from the differences that the pleg thread sends. It lives as long as the ring that they come
// through.
// Invariant: a pod that is passed on equals the pleg thread's last observation, or its record throws, which restarts
// the thread.

import type { PlegRecord, PlegWireRecord, PodHead, PodPart } from "../../shared/contracts/pleg.js";
import { newestFirst, type ObservedContainer } from "../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid, ContainerId } from "../../shared/kubernetes/identifiers.js";

/** A difference was lost. */
class MissingPartError extends Error {
  override readonly name = "MissingPartError";
}

interface Copy {
  /** Newest first. */
  sorted: ObservedContainer[];
  /** Since the last head. */
  readonly changed: Map<ContainerId, ObservedContainer>;
  readonly removed: Set<ContainerId>;
}

export class WholePods {
  private readonly copies = new Map<PodUid, Copy>();

  /** @returns undefined for a part: its pod follows */
  onRecord(record: PlegWireRecord): PlegRecord | undefined {
    switch (record.kind) {
      case "pod-part":
        this.onPart(record);
        return undefined;
      case "pod-head":
        return this.onHead(record);
      default:
        return record;
    }
  }

  private onPart({ uid, fresh, changed, removed }: PodPart): void {
    const copy = this.copyOf(uid, fresh);
    for (const status of changed) copy.changed.set(status.id, status);
    for (const id of removed) copy.removed.add(id);
  }

  private onHead({ fresh, total, observed }: PodHead): PlegRecord {
    const { uid } = observed;
    const copy = this.copyOf(uid, fresh);
    const containers = merged(copy);
    if (containers.length !== total) {
      this.copies.delete(uid);
      throw new MissingPartError(`pod ${uid} has ${containers.length} containers instead of ${total}`);
    }
    if (total === 0) this.copies.delete(uid);
    else this.copies.set(uid, { sorted: containers, changed: new Map(), removed: new Set() });
    return { kind: "pod", observed: { ...observed, containers } };
  }

  private copyOf(uid: PodUid, fresh: boolean): Copy {
    let copy = fresh ? undefined : this.copies.get(uid);
    if (copy === undefined) {
      copy = { sorted: [], changed: new Map(), removed: new Set() };
      this.copies.set(uid, copy);
    }
    return copy;
  }
}

/** The containers after the change. Without one it is the list itself, so that views on it are computed once. */
function merged({ sorted, changed, removed }: Copy): ObservedContainer[] {
  if (changed.size + removed.size === 0) return sorted;
  const kept: ObservedContainer[] = [];
  for (const status of sorted) {
    if (removed.has(status.id)) continue;
    const newer = changed.get(status.id);
    kept.push(newer ?? status);
    if (newer !== undefined) changed.delete(status.id);
  }
  const added = [...changed.values()];
  return added.length === 0 && !kept.some((one, at) => isBefore(one, kept[at - 1]))
    ? kept
    : [...added, ...kept].sort(newestFirst);
}

function isBefore(one: ObservedContainer, before: ObservedContainer | undefined): boolean {
  return before !== undefined && newestFirst(before, one) > 0;
}
