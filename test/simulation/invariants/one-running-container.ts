// At most one container runs for a container name and pod.

import { ContainerEventType, ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podNameOf } from "../world/pod-facts.js";
import type { Invariant } from "./invariant.js";

export const oneRunningContainer: Invariant = {
  name: "one running container",
  promisedBy: "SPECIFICATION.md",
  watch({ runtime: { state } }, broken) {
    state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType !== ContainerEventType.CONTAINER_STARTED_EVENT) return;
      const started = state.containers.get(containerId);
      if (started === undefined) return;
      const { labels, metadata } = started.config;
      const uid = labels["io.kubernetes.pod.uid"];
      for (const { config, status } of state.containers.values()) {
        if (status.id === containerId || status.state !== ContainerState.CONTAINER_RUNNING) continue;
        if (config.labels["io.kubernetes.pod.uid"] !== uid || config.metadata?.name !== metadata?.name) continue;
        broken(`container ${metadata?.name ?? ""} runs twice: ${containerId} beside ${status.id}`, podNameOf(labels));
      }
    });
    return undefined;
  },
};
