// The status in the API never goes back: restart counts grow, and a container that has terminated does not run again.

import { plainName } from "../world/pod-facts.js";
import type { Invariant } from "./invariant.js";

interface Seen {
  restarts: number;
  terminated: Set<string>;
}

interface ContainerStatus {
  name: string;
  restartCount?: number;
  containerID?: string;
  state?: { running?: object; terminated?: { containerID?: string } };
}

export const statusGoesForward: Invariant = {
  name: "status never goes back",
  promisedBy: "docs/cluster.md",
  watch({ api, facts }, broken) {
    const seen = new Map<string, Seen>();
    api.onPod(({ object, type }) => {
      const { uid = "", name } = object.metadata;
      const { initContainerStatuses = [], containerStatuses = [] } = (object.status ?? {}) as Record<
        string,
        ContainerStatus[] | undefined
      >;
      for (const status of [...initContainerStatuses, ...containerStatuses]) {
        const key = `${uid}/${status.name}`;
        const known = seen.get(key) ?? { restarts: 0, terminated: new Set<string>() };
        seen.set(key, known);
        const { restartCount = 0, containerID = "", state } = status;
        const pod = facts.pods.get(plainName(name));
        if (restartCount < known.restarts && (pod === undefined || !facts.mayCountAnew(pod))) {
          broken(`the restart count of ${status.name} went from ${known.restarts} back to ${restartCount}`, name);
        }
        known.restarts = restartCount;
        const ended = state?.terminated?.containerID;
        if (ended !== undefined && ended !== "") known.terminated.add(ended);
        if (state?.running !== undefined && known.terminated.has(containerID)) {
          broken(`${status.name} runs again as ${containerID}, which had terminated`, name);
        }
        if (type === "DELETED") seen.delete(key);
      }
    });
    return undefined;
  },
};
