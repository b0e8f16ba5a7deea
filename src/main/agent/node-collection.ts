// Connects the garbage collection of images, exited containers and orphaned pods to the sync path.
import type { Clock } from "../../shared/clock/clock.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import { Collection, type CollectionSource } from "../collection/collection.js";
import type { DeadContainerPolicy } from "../collection/dead-containers.js";
import { ImageLeases } from "../collection/image-leases.js";
import { ImageUsers } from "../collection/image-users.js";
import { LeasedImages } from "../collection/leased-images.js";
import type { NodeRuntime } from "../runtime/node-runtime.js";
import type { NodeSync } from "../sync/node-sync.js";
import type { ImageGcOwner } from "../threads/thread-owner.js";

export interface NodeCollection {
  /** The runtime for the sync path: its images are prepared under leases. */
  runtime: NodeRuntime;
  owner: ImageGcOwner;
  removeDeadContainers(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** `sync` is called after all components exist. */
export function joinCollection(
  runtime: NodeRuntime,
  policy: DeadContainerPolicy,
  sync: () => NodeSync,
  { clock, log }: { clock: Clock; log: Logger },
): NodeCollection {
  const source: CollectionSource = {
    settled: () => sync().loop.settled,
    observed: () => sync().cache.all(),
    wanted: () => sync().workers.wanted(),
    isTerminated: (uid) => sync().workers.get(uid)?.state === "finished",
  };
  const users = new ImageUsers(source);
  const leases = new ImageLeases(() => (source.settled() ? users.keys() : undefined), clock);
  const collection = new Collection({
    source,
    users,
    leases,
    cri: runtime.cri,
    policy,
    changed: (uid, hints) => {
      // No state of a pod that was removed meanwhile is kept.
      if (sync().workers.has(uid)) sync().cache.bump(uid, hints);
    },
    sweepLeftovers: () => sync().loop.sweepLeftovers(),
    events: runtime.events,
    clock,
    log: moduleLogger(log, "collection"),
  });
  return {
    runtime: { ...runtime, images: new LeasedImages(runtime.images, leases, users) },
    owner: { upcalls: collection, leases },
    removeDeadContainers: () => collection.removeDeadContainers(),
    start: () => collection.start(),
    stop: () => collection.stop(),
  };
}
