// What main answers to its threads and does with their reports; and the hook by which tests break them.
import type { Timelines } from "../timeline/timelines.js";
import type { ThreadOwner } from "../threads/thread-owner.js";
import { THREADS } from "../threads/thread-context.js";
import type { Membership } from "../cluster/membership.js";
import type { AgentContext } from "./context.js";
import { installFaultHook, mainThread } from "./fault-hook.js";
import type { LateEviction } from "./late-eviction.js";
import type { NodeCollection } from "./node-collection.js";
import type { SyncPath } from "./sync-path.js";

export interface ThreadOwnerParts extends Pick<SyncPath, "sync" | "probes"> {
  timelines: Timelines;
  membership: Membership | undefined;
  collection: NodeCollection;
  eviction: LateEviction;
}

export function threadOwner(parts: ThreadOwnerParts): ThreadOwner {
  const { sync, probes, timelines, membership, collection, eviction } = parts;
  return {
    onRecord: (record) => {
      sync.loop.onPlegRecord(record);
      membership?.onRecord(record);
    },
    watches: () => sync.watches(),
    resend: () => sync.cache.resend(),
    pods: () => sync.statuses.all(),
    timeline: (namespace, name) => timelines.show(namespace, name),
    mirrorUid: (namespace, name) => membership?.mirrorUid(namespace, name),
    onProbeRecord: (record) => probes.onRecord(record),
    probedPods: () => probes.probedPods(),
    collection: collection.owner,
    ...eviction.answers,
  };
}

/** Returns how to remove the hook. */
export function hookFaults({ settings, threads, clock, log }: AgentContext): () => void {
  const main = mainThread(clock, log);
  return installFaultHook({
    rootDir: settings.rootDir,
    names: THREADS,
    thread: (name) => (name === "main" ? main : threads.breakable(name)),
    log,
  });
}
