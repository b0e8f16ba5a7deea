// While no kubelet runs, a pod is deleted by force and its containers die.

import { podOf, runsOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const spec = { volumes: [{ name: "scratch", emptyDir: {} }] };
const container = { volumeMounts: [{ name: "scratch", mountPath: "/scratch" }] };

export const deletedWhileDown: Race = {
  name: "deleted-while-down",
  promise: "Of a pod that was deleted and died while no kubelet ran, no folder, volume or sandbox is left",
  issue: "https://github.com/kubernetes/kubernetes/issues/5657",
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "orphan", spec, container }) }],
    [21 * SECOND, { do: "create", shape: podOf({ name: "neighbour" }) }],
    [60 * SECOND, { do: "kill", downMs: 60_000 }],
    [70 * SECOND, { do: "delete", name: "orphan", graceSeconds: 0 }],
    [75 * SECOND, { do: "sandbox-dies", pick: 0 }],
    [76 * SECOND, { do: "sandbox-dies", pick: 0 }],
  ],
  watch(world, broken) {
    const runs = runsOf(world, "orphan");
    // What is left is the question of the invariants.
    return () => {
      if (runs.map(({ did }) => did).join() !== "start,end") broken(`it ran as ${JSON.stringify(runs)}`, "orphan");
    };
  },
};
