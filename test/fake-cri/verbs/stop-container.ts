// StopContainer: ends at once on the stop signal, or after the grace when the container ignores it.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeWorld, UnaryVerbs } from "../context.js";

/** 128 + signal number. */
const KILLED = 137;
const TERMINATED = 143;

export function stopContainerVerb({ state }: FakeWorld): UnaryVerbs<"stopContainer"> {
  return {
    stopContainer: async ({ containerId, timeout }, call) => {
      const container = state.container(containerId);
      if (container.status.state !== ContainerState.CONTAINER_RUNNING) return {};
      if (!container.ignoresTerm && timeout > 0n) {
        state.end(container, TERMINATED);
        return {};
      }
      const graceEnd = new AbortController();
      const ended = (): void => graceEnd.abort();
      container.ended.add(ended);
      try {
        await call.sleep(Number(timeout) * 1000, graceEnd.signal);
      } finally {
        container.ended.delete(ended);
      }
      state.end(container, KILLED);
      return {};
    },
  };
}
