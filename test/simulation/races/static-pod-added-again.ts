// The manifest of a static pod is removed and comes back with the same UID while the pod terminates.

import { callsOf, mirrorOf, objectsOf, podOf, runsOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const shape = podOf({
  name: "again",
  script: { stopsMs: 6000 },
  graceSeconds: 20,
  static: { uid: "5a5a5a5a-0000-4000-8000-000000000001" },
});

export const staticPodAddedAgain: Race = {
  name: "static-pod-added-again",
  promise: "A static pod that is removed and comes back with the same UID while it terminates runs again",
  issue: "https://github.com/kubernetes/kubernetes/issues/104648",
  events: [
    [20 * SECOND, { do: "create", shape }],
    [60 * SECOND, { do: "delete", name: "again", graceSeconds: undefined }],
    [62 * SECOND, { do: "create", shape }],
  ],
  watch(world, broken) {
    const runs = runsOf(world, "again");
    const calls = callsOf(world, "again");
    const seen = objectsOf(world, mirrorOf("again"));
    return () => {
      const [first, second, ...more] = runs.filter(({ did }) => did === "start");
      if (first === undefined || !calls.some(({ verb, atMs }) => verb === "StopContainer" && atMs < 62 * SECOND))
        broken("the race did not come about", "again");
      if (second === undefined || more.length > 0)
        broken(`the container started ${runs.length} times, not twice`, "again");
      const last = seen.at(-1);
      if (last?.type === "DELETED" || last?.phase !== "Running") broken(`the mirror pod is ${last?.phase}`, "again");
    };
  },
};
