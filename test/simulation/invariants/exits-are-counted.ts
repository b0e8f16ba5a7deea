// Exits are neither lost nor counted twice: the restart count is the number of containers that started before.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podNameOf } from "../world/world.js";
import type { Invariant } from "./invariant.js";

export const exitsAreCounted: Invariant = {
  name: "exits are counted once",
  promisedBy: "docs/adr/0013-ends-of-pods.md",
  watch({ runtime, api, facts }, broken) {
    /** Containers that started, by pod UID and container name. */
    const starts = new Map<string, number>();
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType !== ContainerEventType.CONTAINER_STARTED_EVENT) return;
      const { labels = {}, metadata } = runtime.state.containers.get(containerId)?.config ?? {};
      const key = `${labels["io.kubernetes.pod.uid"]}/${metadata?.name}`;
      starts.set(key, (starts.get(key) ?? 0) + 1);
    });
    return () => {
      const known = new Set<string>();
      for (const { metadata, status } of api.store.list("pods", "default")) {
        known.add(metadata.uid ?? "");
        if (facts.pods.get(metadata.name)?.deletedAt !== undefined) continue;
        // A static pod runs under the UID of its manifest.
        const uid = metadata["annotations"]?.["kubernetes.io/config.hash"] ?? metadata.uid ?? "";
        const { containerStatuses = [] } = (status ?? {}) as {
          containerStatuses?: { name: string; restartCount?: number; state?: { running?: object } }[];
        };
        for (const { name, restartCount = 0, state } of containerStatuses) {
          const started = starts.get(`${uid}/${name}`) ?? 0;
          if (state?.running === undefined || started === restartCount + 1) continue;
          broken(`${name} started ${started} times, but its restart count is ${restartCount}`, metadata.name);
        }
      }
      for (const key of starts.keys()) {
        const [uid = ""] = key.split("/");
        const isThere = [...runtime.state.sandboxes.values()].some(
          ({ config }) => config.labels["io.kubernetes.pod.uid"] === uid && facts.pods.has(podNameOf(config.labels)),
        );
        if (!known.has(uid) && !isThere) starts.delete(key);
      }
    };
  },
};
