// A sandbox is made again for a pod that has nothing left to run: one that completed, and one that terminates.

import { callsOf, podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

export const completedSandbox: Race = {
  name: "sandbox-of-a-completed-pod",
  promise: "A pod with the restart policy OnFailure whose containers succeeded gets no second sandbox",
  issue: "https://github.com/kubernetes/kubernetes/issues/92613",
  events: [
    [
      20 * SECOND,
      { do: "create", shape: podOf({ name: "batch", script: { runsMs: 5000 }, spec: { restartPolicy: "OnFailure" } }) },
    ],
    [24.9 * SECOND, { do: "runtime-restart", ms: 3000 }],
    [40 * SECOND, { do: "kill", downMs: 0 }],
  ],
  watch(world, broken) {
    const calls = callsOf(world, "batch");
    return () => {
      const made = calls.filter(({ verb }) => verb === "RunPodSandbox").length;
      if (made !== 1) broken(`${made} sandboxes were made`, "batch");
    };
  },
};

export const terminatingSandbox: Race = {
  name: "sandbox-of-a-terminating-pod",
  promise: "A pod that terminates gets no second sandbox when its own dies",
  issue: "https://github.com/kubernetes/kubernetes/issues/63876",
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "leaving", script: { stopsMs: Infinity }, graceSeconds: 40 }) }],
    [60 * SECOND, { do: "delete", name: "leaving", graceSeconds: undefined }],
    [70 * SECOND, { do: "sandbox-dies", pick: 0 }],
    [70.5 * SECOND, { do: "thread-crash", name: "pleg" }],
  ],
  watch(world, broken) {
    const calls = callsOf(world, "leaving");
    return () => {
      const made = calls.filter(({ verb }) => verb === "RunPodSandbox");
      if (made.length !== 1) broken(`${made.length} sandboxes were made`, "leaving");
      if (!calls.some(({ verb }) => verb === "RemovePodSandbox")) broken("its sandbox was not removed", "leaving");
    };
  },
};
