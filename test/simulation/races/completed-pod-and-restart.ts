// A kubelet starts anew after a pod has completed and its containers were removed from the runtime by hand.

import { callsOf, objectsOf, podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const job = (name: string, own: { static?: object } = {}) =>
  podOf({ name, script: { runsMs: 5000 }, spec: { restartPolicy: "Never" }, ...own });
const NAMES = ["done", "done-static"];

export const completedPodAndRestart: Race = {
  name: "completed-pod-and-restart",
  promise: "A pod that completed does not run again after a restart of the kubelet, though the runtime forgot it",
  issue: "https://github.com/kubernetes/kubernetes/issues/37447",
  events: [
    [20 * SECOND, { do: "create", shape: job("done") }],
    [21 * SECOND, { do: "create", shape: job("done-static", { static: {} }) }],
    [60 * SECOND, { do: "kill", downMs: 5000 }],
    [62 * SECOND, { do: "sandboxes-pruned" }],
    [120 * SECOND, { do: "sandboxes-pruned" }],
    [121 * SECOND, { do: "kill", downMs: 0 }],
  ],
  watch(world, broken) {
    const calls = NAMES.map((name) => callsOf(world, name));
    const seen = objectsOf(world, "done");
    return () => {
      NAMES.forEach((name, index) => {
        const starts = calls[index]?.filter(({ verb }) => verb === "StartContainer") ?? [];
        if (starts.length !== 1) broken(`the container started ${starts.length} times`, name);
      });
      if (seen.at(-1)?.phase !== "Succeeded") broken(`the pod is ${seen.at(-1)?.phase}`, "done");
    };
  },
};
