// Eviction and the disk usage of pods, loaded with the first question of the eviction thread or of a reader of disk
// usage.

import { Deferred } from "../../shared/base/turns/deferred.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import type { Collection } from "../pods/collection/collection.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { PodWorkers } from "../pods/sync/pod-workers.js";
import type { NodePressures } from "../resources/eviction/pressures.js";
import type { AgentContext } from "./context.js";
import type { Foundation } from "./foundation.js";
import type { NodeEviction } from "./node-eviction.js";

export interface EvictionParts {
  foundation: Pick<Foundation, "events" | "tasks" | "quotas">;
  state: PodState;
  workers: Pick<PodWorkers, "fail">;
  pressures: NodePressures;
  cri: CriClient;
  collection: Pick<Collection, "removeDeadContainers">;
}

export function deferredEviction(
  { settings, threads, registry, clock, log }: AgentContext,
  { foundation, state, workers, pressures, cri, collection }: EvictionParts,
): Deferred<NodeEviction> {
  const { events, tasks, quotas } = foundation;
  return new Deferred({
    name: "eviction",
    when: "first use",
    load: async () =>
      (await import("./node-eviction.js")).joinEviction({
        rootDir: settings.rootDir,
        podLogsDir: settings.containerLogs.podLogsDir,
        state,
        workers,
        thread: threads.of.eviction,
        pressures,
        removeDeadContainers: () => collection.removeDeadContainers(),
        removeUnusedImages: () => threads.of["image-gc"].removeUnusedImages(),
        cri,
        quotas,
        tasks,
        events,
        registry,
        clock,
        log,
      }),
    end: ({ diskUsage }) => diskUsage.stop(),
  });
}
