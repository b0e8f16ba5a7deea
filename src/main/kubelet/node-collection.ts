// Connects the garbage collection of images, exited containers and orphaned pods to the sync path.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import type { EventRecorder } from "../model/event-recorder.js";
import type { LogFolders } from "../model/removed-logs.js";
import { Collection, type CollectionSource } from "../pods/collection/collection.js";
import type { DeadContainerPolicy } from "../pods/collection/dead-containers.js";
import { ImageLeases } from "../pods/collection/image-leases.js";
import { ImageUsers } from "../pods/collection/image-users.js";
import { logLinkMetrics } from "../pods/collection/log-links.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { SyncLoop } from "../pods/sync/sync-loop.js";

export interface ImageUse {
  source: CollectionSource;
  users: ImageUsers;
  leases: ImageLeases;
}

/** Which images the pods use. The runtime prepares images under leases, so this is made before it. */
export function makeImageUse(state: PodState, clock: Clock): ImageUse {
  const { cache, pods } = state;
  const source: CollectionSource = {
    settled: () => state.settled,
    observed: () => cache.all(),
    wanted: () => pods.wanted(),
    isTerminated: (uid) => pods.get(uid)?.state === "finished",
  };
  const users = new ImageUsers(source);
  return { source, users, leases: new ImageLeases(() => (state.settled ? users.keys() : undefined), clock) };
}

export interface CollectionParts {
  use: ImageUse;
  state: Pick<PodState, "pods" | "cache">;
  loop: Pick<SyncLoop, "sweepLeftovers">;
  cri: CriClient;
  settings: DeadContainerPolicy &
    Pick<LogFolders, "containerLogsDir"> & { readonly containerLogs: Pick<LogFolders, "podLogsDir"> };
  events: EventRecorder;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export function makeCollection(parts: CollectionParts): Collection {
  const { use, state, loop, cri, settings, events, registry, clock, log } = parts;
  const { source, users, leases } = use;
  return new Collection({
    source,
    users,
    leases,
    cri,
    policy: settings,
    logFolders: { podLogsDir: settings.containerLogs.podLogsDir, containerLogsDir: settings.containerLogsDir },
    linksRemoved: logLinkMetrics(registry).removed,
    changed: (uid, hints) => {
      // No state of a pod that was removed meanwhile is kept.
      if (state.pods.has(uid)) state.cache.bump(uid, hints);
    },
    sweepLeftovers: () => loop.sweepLeftovers(),
    events,
    clock,
    log: moduleLogger(log, "collection"),
  });
}
