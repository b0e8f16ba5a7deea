// The status in the API never goes back: restart counts grow, and a container that has terminated does not run again.
// One that waits for its restart is not shown as terminated before.

import { isFinalPhase } from "../../../src/main/model/phase.js";
import type { PodPhase } from "../../../src/shared/kubernetes/api/pod-status.js";
import { plainName } from "../world/pod-facts.js";
import type { Invariant } from "./invariant.js";

interface Seen {
  restarts: number;
  terminated: Set<string>;
  /** The run after which the container waits for a restart, and the kubelet that has shown it. */
  waitsAfter: { run: string; since: number | undefined } | undefined;
}

interface ContainerStatus {
  name: string;
  restartCount?: number;
  containerID?: string;
  state?: { running?: object; terminated?: { containerID?: string }; waiting?: { reason?: string } };
  lastState?: { terminated?: { containerID?: string } };
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
      const { phase = "Pending" } = (object.status ?? {}) as { phase?: PodPhase };
      const pod = facts.pods.get(plainName(name));
      const isEnding =
        pod?.shape.hasDeadline === true || pod?.deletedAt !== undefined || pod?.disturbedAt !== undefined;
      for (const status of [...initContainerStatuses, ...containerStatuses]) {
        const key = `${uid}/${status.name}`;
        const known = seen.get(key) ?? { restarts: 0, terminated: new Set<string>(), waitsAfter: undefined };
        seen.set(key, known);
        const { restartCount = 0, containerID = "", state } = status;
        if (restartCount < known.restarts && (pod === undefined || !facts.mayCountAnew(pod))) {
          broken(`the restart count of ${status.name} went from ${known.restarts} back to ${restartCount}`, name);
        }
        known.restarts = restartCount;
        const ended = state?.terminated?.containerID;
        if (ended !== undefined && ended !== "") known.terminated.add(ended);
        if (state?.running !== undefined && known.terminated.has(containerID)) {
          broken(`${status.name} runs again as ${containerID}, which had terminated`, name);
        }
        // The next kubelet knows of no back-off. A pod that ends waits for nothing.
        const { waitsAfter } = known;
        const isAgain = waitsAfter?.since === facts.startedAt && ended !== undefined && ended === waitsAfter?.run;
        if (isAgain && !isEnding && !isFinalPhase(phase))
          broken(`${status.name} waited for its restart, and is shown as terminated again`, name);
        const run =
          state?.waiting?.reason === "CrashLoopBackOff" ? status.lastState?.terminated?.containerID : undefined;
        known.waitsAfter = run === undefined ? undefined : { run, since: facts.startedAt };
        if (type === "DELETED") seen.delete(key);
      }
    });
    return undefined;
  },
};
