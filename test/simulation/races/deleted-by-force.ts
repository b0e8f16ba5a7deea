// A pod terminates, is then deleted by force, and a pod of its name comes at once, as a StatefulSet makes it.

import { callsOf, objectsOf, podOf, runsOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const shape = podOf({ name: "web-0", script: { stopsMs: Infinity }, graceSeconds: 120 });
const FORCED_MS = 65 * SECOND;

export const deletedByForce: Race = {
  name: "deleted-by-force",
  promise: "A pod that is deleted by force while it terminates ends soon, and its successor of the same name runs",
  issue: "https://github.com/kubernetes/kubernetes/pull/113145",
  events: [
    [20 * SECOND, { do: "create", shape }],
    [60 * SECOND, { do: "delete", name: "web-0", graceSeconds: 120 }],
    [FORCED_MS, { do: "delete-by-force", name: "web-0" }],
    [FORCED_MS + 100, { do: "create", shape }],
  ],
  watch(world, broken) {
    const runs = runsOf(world, "web-0");
    const calls = callsOf(world, "web-0");
    const seen = objectsOf(world, "web-0");
    return () => {
      const starts = runs.filter(({ did }) => did === "start");
      const end = runs.find(({ did }) => did === "end")?.atMs ?? Infinity;
      if (starts.length !== 2 || new Set(calls.map(({ uid }) => uid)).size !== 2)
        broken(`the containers started ${starts.length} times`, "web-0");
      if (end > FORCED_MS + 10 * SECOND) broken(`the old container ended ${end - FORCED_MS} ms later`, "web-0");
      const last = seen.at(-1);
      if (last?.phase !== "Running" || last.isDeleting) broken(`the new pod is ${JSON.stringify(last)}`, "web-0");
    };
  },
};
