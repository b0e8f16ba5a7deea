// A kubelet starts anew while pods run: one is ready, the readiness probe of another has never succeeded.

import { objectsOf, podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const readinessProbe = { exec: { command: ["ready"] }, periodSeconds: 20, initialDelaySeconds: 1 };

export const readyOverARestart: Race = {
  name: "ready-over-a-restart",
  promise: "A ready pod stays ready over a restart of the kubelet",
  issue: "https://github.com/kubernetes/kubernetes/issues/78733",
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "ready", container: { readinessProbe } }) }],
    [60 * SECOND, { do: "kill", downMs: 0 }],
    [120 * SECOND, { do: "restart", downMs: 40_000 }],
  ],
  watch(world, broken) {
    const seen = objectsOf(world, "ready");
    return () => {
      const first = seen.findIndex(({ isReady }) => isReady);
      if (first === -1) broken("the race did not come about", "ready");
      const lost = seen.slice(first).find(({ isReady }) => !isReady);
      if (lost !== undefined) broken(`the pod was not ready at ${lost.atMs} ms`, "ready");
    };
  },
};

export const unreadyOverARestart: Race = {
  name: "unready-over-a-restart",
  promise: "A pod that is not ready does not become ready by a restart of the kubelet",
  issue: "https://github.com/kubernetes/kubernetes/issues/135795",
  events: [
    [
      20 * SECOND,
      {
        do: "create",
        shape: podOf({
          name: "unready",
          script: { readyMs: 3_600_000 },
          container: { readinessProbe },
          isSteady: false,
        }),
      },
    ],
    [60 * SECOND, { do: "kill", downMs: 0 }],
    [120 * SECOND, { do: "restart", downMs: 40_000 }],
  ],
  watch(world, broken) {
    const seen = objectsOf(world, "unready");
    return () => {
      if (!seen.some(({ phase }) => phase === "Running")) broken("the race did not come about", "unready");
      const ready = seen.find(({ isReady }) => isReady);
      if (ready !== undefined) broken(`the pod was ready at ${ready.atMs} ms`, "unready");
    };
  },
};
