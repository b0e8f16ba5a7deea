// Full sets of pods per source, or single pods of one → one ordered stream of changes, keyed by UID. Pure: no I/O, time
// comes in as a function.
//
// Invariant: a UID is owned by one source at a time; removes come before adds, so that a changed pod's old UID is
// removed before its new one is added; config.seen is set once per UID and grows in the order of the adds.

import { isDeepStrictEqual } from "node:util";
import { withoutTrailing } from "../../../shared/base/text/without-trailing.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { CONFIG_SEEN } from "../../model/api-json.js";

/** `submitted`: the manifest API. */
export type PodSourceName = "file" | "http" | "submitted" | "api";

export interface PodChange {
  kind: "add" | "update" | "remove";
  source: PodSourceName;
  pod: Pod;
}

/** Two sources have a pod with one UID: only the first pod counts. */
interface UidConflict {
  uid: PodUid;
  source: PodSourceName;
  /** Full name of the pod that is left out. */
  pod: string;
}

export interface Delivery {
  changes: PodChange[];
  conflicts: UidConflict[];
}

interface Entry {
  source: PodSourceName;
  /** As the source delivered it. */
  delivered: Pod;
  /** The pod with config.seen. */
  pod: Pod;
  seen: bigint;
}

export class PodMerger {
  private readonly entries = new Map<PodUid, Entry>();
  private readonly sets = new Map<PodSourceName, Map<PodUid, Pod>>();
  private readonly unseen: Set<PodSourceName>;
  private lastSeen = 0n;

  /** `sources` are the configured ones; the first of two that claim a UID wins. `nowNanos` is wall time. */
  constructor(
    private readonly sources: readonly PodSourceName[],
    private readonly nowNanos: () => bigint,
  ) {
    this.unseen = new Set(sources);
  }

  /** True when every configured source has delivered a complete set, be it empty. */
  allSourcesSeen(): boolean {
    return this.unseen.size === 0;
  }

  /** Whether the sources of static pods (files, URL, manifest API) have delivered once. */
  staticSourcesSeen(): boolean {
    return !this.unseen.has("file") && !this.unseen.has("http") && !this.unseen.has("submitted");
  }

  /**
   * Takes a source's whole set. `complete` is false while the source still reads its first pods. Delivered pods may
   * start, but a missing pod does not count as removed.
   */
  deliver(source: PodSourceName, pods: readonly Pod[], complete: boolean): Delivery {
    const conflicts: UidConflict[] = [];
    const before = this.sets.get(source) ?? new Map<PodUid, Pod>();
    const after = new Map<PodUid, Pod>();
    const conflict = (pod: Pod): void => {
      const { uid, namespace, name } = pod.metadata;
      conflicts.push({ uid, source, pod: `${namespace}/${name}` });
    };
    for (const pod of pods) {
      if (after.has(pod.metadata.uid)) conflict(pod);
      else after.set(pod.metadata.uid, pod);
    }
    this.sets.set(source, after);
    if (complete) this.unseen.delete(source);

    const removes: Entry[] = [];
    const rest: PodChange[] = [];
    for (const uid of before.keys()) {
      const entry = this.entries.get(uid);
      if (after.has(uid) || entry?.source !== source) continue;
      const heir = this.heirOf(uid);
      if (heir === undefined) {
        this.entries.delete(uid);
        removes.push(entry);
      } else this.replace(entry, heir.source, heir.pod, rest);
    }
    for (const [uid, pod] of after) {
      const entry = this.entries.get(uid);
      if (entry === undefined) rest.push(this.add(source, pod));
      else if (entry.source === source) this.replace(entry, source, pod, rest);
      else conflict(pod);
    }
    removes.sort((a, b) => (a.seen < b.seen ? -1 : 1));
    const changes = removes.map(({ source, pod }): PodChange => ({ kind: "remove", source, pod }));
    return { changes: [...changes, ...rest], conflicts };
  }

  /** One pod of a source came or changed; the rest of its set is unchanged. The work does not grow with the set. */
  set(source: PodSourceName, pod: Pod): Delivery {
    const { uid, namespace, name } = pod.metadata;
    this.setOf(source).set(uid, pod);
    const entry = this.entries.get(uid);
    if (entry === undefined) return { changes: [this.add(source, pod)], conflicts: [] };
    if (entry.source !== source) return { changes: [], conflicts: [{ uid, source, pod: `${namespace}/${name}` }] };
    const changes: PodChange[] = [];
    this.replace(entry, source, pod, changes);
    return { changes, conflicts: [] };
  }

  /** One pod of a source was removed; the rest of its set is unchanged. */
  drop(source: PodSourceName, uid: PodUid): Delivery {
    const entry = this.entries.get(uid);
    if (!this.setOf(source).delete(uid) || entry?.source !== source) return { changes: [], conflicts: [] };
    const heir = this.heirOf(uid);
    if (heir === undefined) {
      this.entries.delete(uid);
      return { changes: [{ kind: "remove", source, pod: entry.pod }], conflicts: [] };
    }
    const changes: PodChange[] = [];
    this.replace(entry, heir.source, heir.pod, changes);
    return { changes, conflicts: [] };
  }

  /** The source whose pod of this UID counts. */
  sourceOf(uid: PodUid): PodSourceName | undefined {
    return this.entries.get(uid)?.source;
  }

  /** All pods in the order in which they were first delivered. */
  pods(): Pod[] {
    return [...this.entries.values()].sort((a, b) => (a.seen < b.seen ? -1 : 1)).map((entry) => entry.pod);
  }

  private setOf(source: PodSourceName): Map<PodUid, Pod> {
    const known = this.sets.get(source);
    if (known !== undefined) return known;
    const set = new Map<PodUid, Pod>();
    this.sets.set(source, set);
    return set;
  }

  private heirOf(uid: PodUid): { source: PodSourceName; pod: Pod } | undefined {
    for (const source of this.sources) {
      const pod = this.sets.get(source)?.get(uid);
      if (pod !== undefined) return { source, pod };
    }
    return undefined;
  }

  private add(source: PodSourceName, delivered: Pod): PodChange {
    const now = this.nowNanos();
    this.lastSeen = now > this.lastSeen ? now : this.lastSeen + 1n;
    const seen = this.lastSeen;
    const pod = withSeen(delivered, seen);
    this.entries.set(delivered.metadata.uid, { source, delivered, pod, seen });
    return { kind: "add", source, pod };
  }

  private replace(entry: Entry, source: PodSourceName, delivered: Pod, changes: PodChange[]): void {
    const same = entry.delivered === delivered || isDeepStrictEqual(entry.delivered, delivered);
    entry.source = source;
    entry.delivered = delivered;
    if (same) return;
    entry.pod = withSeen(delivered, entry.seen);
    changes.push({ kind: "update", source, pod: entry.pod });
  }
}

function withSeen(pod: Pod, seen: bigint): Pod {
  const annotations = { ...pod.metadata.annotations, [CONFIG_SEEN]: rfc3339Nano(seen) };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/** "2026-11-21T06:30:00.000000001Z"; zeros at the end of the fraction are left out, as Go prints it. @internal */
export function rfc3339Nano(nanos: bigint): string {
  const seconds = new Date(Number(nanos / 1_000_000n)).toISOString().slice(0, 19);
  const fraction = withoutTrailing((nanos % 1_000_000_000n).toString().padStart(9, "0"), "0");
  return `${seconds}${fraction === "" ? "" : `.${fraction}`}Z`;
}
