// A pod as main has it, and its difference to a newer observation. A pod may have ten thousand containers: main gets
// only those that changed, in records that it decodes in between other work.
// Invariant: main's copy, which is made of these differences alone, equals the last observation.

import { encodeContainer, encodeSandboxes } from "../../shared/contracts/pleg-codec.js";
import type { PlegWireRecord } from "../../shared/contracts/pleg.js";
import type { ObservedPod, ObservedContainer } from "../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid, ContainerId } from "../../shared/kubernetes/identifiers.js";

/** Bytes of containers in one record, and ids of removed ones. */
const PART_BYTES = 32 * 1024;
const PART_IDS = 256;

interface Known {
  readonly status: ObservedContainer;
  readonly bytes: Uint8Array;
}

/** The records that bring main from one observation to the next. */
export interface PodDifference {
  readonly records: PlegWireRecord[];
  /** The runtime's state of the pod has not changed. */
  readonly same: boolean;
}

export class PublishedPod {
  private sandboxes: Uint8Array | undefined;
  private containers = new Map<ContainerId, Known>();

  /** Takes a newer observation. */
  take(observed: ObservedPod): PodDifference {
    const fresh = this.sandboxes === undefined;
    const { containers, ...head } = observed;
    const sandboxes = encodeSandboxes(head);
    const parts = new Parts(observed.uid, fresh);
    const now = new Map<ContainerId, Known>();
    for (const status of containers) {
      const before = this.containers.get(status.id);
      // An exited container keeps the object of its first inspection.
      const known = before?.status === status ? before : { status, bytes: encodeContainer(status) };
      now.set(status.id, known);
      if (before !== known && !isEqual(before?.bytes, known.bytes)) parts.change(known);
    }
    for (const id of this.containers.keys()) if (!now.has(id)) parts.remove(id);
    const same = parts.isEmpty && isEqual(this.sandboxes, sandboxes);
    this.sandboxes = sandboxes;
    this.containers = now;
    const records: PlegWireRecord[] = [
      ...parts.records(),
      { kind: "pod-head", fresh: fresh && parts.isEmpty, total: containers.length, observed: head },
    ];
    return { records, same };
  }
}

function isEqual(one: Uint8Array | undefined, other: Uint8Array): boolean {
  return one !== undefined && Buffer.compare(one, other) === 0;
}

class Parts {
  private readonly changed: ObservedContainer[][] = [];
  private readonly removed: ContainerId[] = [];
  /** Bytes of the last list of containers. */
  private bytes = PART_BYTES;

  constructor(
    private readonly uid: PodUid,
    private readonly fresh: boolean,
  ) {}

  get isEmpty(): boolean {
    return this.changed.length + this.removed.length === 0;
  }

  change({ status, bytes }: Known): void {
    if (this.bytes >= PART_BYTES) {
      this.changed.push([]);
      this.bytes = 0;
    }
    this.changed.at(-1)?.push(status);
    this.bytes += bytes.length;
  }

  remove(id: ContainerId): void {
    this.removed.push(id);
  }

  *records(): Generator<PlegWireRecord> {
    const { uid } = this;
    let { fresh } = this;
    for (const changed of this.changed) {
      yield { kind: "pod-part", uid, fresh, changed, removed: [] };
      fresh = false;
    }
    for (let at = 0; at < this.removed.length; at += PART_IDS) {
      yield { kind: "pod-part", uid, fresh: false, changed: [], removed: this.removed.slice(at, at + PART_IDS) };
    }
  }
}
