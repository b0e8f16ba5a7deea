// A client deletes the mirror pod of a static pod.

import { mirrorOf, objectsOf, podOf, runsOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

export const mirrorPodDeleted: Race = {
  name: "mirror-pod-deleted",
  promise: "A mirror pod that a client deletes is made anew once, and its containers run on",
  issue: "https://github.com/kubernetes/kubernetes/issues/79147",
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "mirrored", graceSeconds: 30, static: {} }) }],
    [60 * SECOND, { do: "delete-mirror", name: "mirrored", graceSeconds: 30 }],
    [62 * SECOND, { do: "watch-cut", how: "drop" }],
  ],
  watch(world, broken) {
    const seen = objectsOf(world, mirrorOf("mirrored"));
    const runs = runsOf(world, "mirrored");
    return () => {
      if (!seen.some(({ isDeleting }) => isDeleting)) broken("the race did not come about", "mirrored");
      const made = seen.filter(({ type }) => type === "ADDED").length;
      if (made !== 2) broken(`the mirror pod was made ${made} times`, "mirrored");
      const last = seen.at(-1);
      if (last?.phase !== "Running" || last.isDeleting) broken(`the mirror pod is ${JSON.stringify(last)}`, "mirrored");
      if (runs.length !== 1) broken(`the container did not run on: ${JSON.stringify(runs)}`, "mirrored");
    };
  },
};
