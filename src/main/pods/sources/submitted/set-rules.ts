// Rules for all manifests of the manifest API together.

import { MANIFESTS_BYTES } from "../../../../shared/contracts/manifests.js";
import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import { keyOf, type Entry } from "./entry.js";
import { conflict, RefusedError } from "./refusals.js";

/** Throws RefusedError: two pods of one UID cannot run. */
export function checkUids(entries: Iterable<Entry>): void {
  const seen = new Map<PodUid, Entry>();
  for (const entry of entries) {
    const uid = entry.pod?.metadata.uid;
    if (uid === undefined) continue;
    const other = seen.get(uid);
    if (other !== undefined) {
      const message = `manifests ${keyOf(other)} and ${keyOf(entry)} have the same metadata.uid ${uid}`;
      throw new RefusedError(conflict("Conflict", message));
    }
    seen.set(uid, entry);
  }
}

/** Throws RefusedError. Main keeps them all, and each list of them is one message between threads. */
export function checkSize(entries: Iterable<Entry>): void {
  let bytes = 0;
  for (const { metadata, spec } of entries) bytes += metadata.length + spec.length;
  if (bytes <= MANIFESTS_BYTES) return;
  const message = `the manifests of a node have at most ${MANIFESTS_BYTES / 2 ** 20} MiB together: delete some`;
  throw new RefusedError({ code: 403, reason: "Forbidden", message });
}
