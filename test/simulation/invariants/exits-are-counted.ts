// Exits are neither lost nor counted twice: the restart count is the number of containers that were made before. One
// that was made and not started before its kubelet was killed counts too, as upstream's.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { plainName, podNameOf } from "../world/pod-facts.js";
import type { Invariant } from "./invariant.js";

export const exitsAreCounted: Invariant = {
  name: "exits are counted once",
  promisedBy: "docs/adr/0013-ends-of-pods.md",
  watch({ runtime, api, facts }, broken) {
    /** Containers that started, and that were made, by pod UID and container name. */
    const starts = new Map<string, number>();
    const made = new Map<string, number>();
    const counts = new Map([
      [ContainerEventType.CONTAINER_STARTED_EVENT, starts],
      [ContainerEventType.CONTAINER_CREATED_EVENT, made],
    ]);
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      const count = counts.get(containerEventType);
      const { labels = {}, metadata } = runtime.state.containers.get(containerId)?.config ?? {};
      const key = `${labels["io.kubernetes.pod.uid"]}/${metadata?.name}`;
      count?.set(key, (count.get(key) ?? 0) + 1);
    });
    return () => {
      const known = new Set<string>();
      for (const { metadata, status } of api.store.list("pods")) {
        known.add(metadata.uid ?? "");
        const pod = facts.pods.get(plainName(metadata.name));
        // A pod that comes back under its UID goes on with the count of its logs, if it comes soon enough.
        if (pod?.deletedAt !== undefined || pod?.shape.uid !== undefined) continue;
        // An edit may give a static pod an earlier form, and so the UID of that form.
        if (pod?.shape.isStatic === true && pod.editedAt !== undefined) continue;
        if (pod !== undefined && facts.mayCountAnew(pod)) continue;
        // A static pod runs under the UID of its manifest.
        const uid = metadata["annotations"]?.["kubernetes.io/config.hash"] ?? metadata.uid ?? "";
        const { containerStatuses = [] } = (status ?? {}) as {
          containerStatuses?: { name: string; restartCount?: number; state?: { running?: object } }[];
        };
        for (const { name, restartCount = 0, state } of containerStatuses) {
          const [started = 0, all = 0] = [starts, made].map((count) => count.get(`${uid}/${name}`));
          if (state?.running === undefined || (started <= restartCount + 1 && restartCount < all)) continue;
          broken(
            `${name} was made ${all} times and started ${started} times, but its restart count is ${restartCount}`,
            metadata.name,
          );
        }
      }
      for (const key of starts.keys()) {
        const [uid = ""] = key.split("/");
        const isThere = [...runtime.state.sandboxes.values()].some(
          ({ config }) => config.labels["io.kubernetes.pod.uid"] === uid && facts.pods.has(podNameOf(config.labels)),
        );
        if (known.has(uid) || isThere) continue;
        starts.delete(key);
        made.delete(key);
      }
    };
  },
};
