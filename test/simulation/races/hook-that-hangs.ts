// A preStop hook never ends, and the container ignores SIGTERM.

import { objectsOf, podOf, runsOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const GRACE_SECONDS = 30;
const DELETED_MS = 60 * SECOND;
/** Upstream gives a container two seconds after a hook that took all of the grace period. */
const LIMIT_MS = (GRACE_SECONDS + 4) * SECOND;

const shape = podOf({
  name: "hook",
  script: { stopsMs: Infinity },
  container: { lifecycle: { preStop: { exec: { command: ["hook", "9999999"] } } } },
  graceSeconds: GRACE_SECONDS,
});

export const hookThatHangs: Race = {
  name: "hook-that-hangs",
  promise: "A preStop hook that hangs and a container that ignores SIGTERM get one grace period together",
  issue: "https://github.com/kubernetes/kubernetes/issues/115817",
  events: [
    [20 * SECOND, { do: "create", shape }],
    [DELETED_MS, { do: "delete", name: "hook", graceSeconds: undefined }],
  ],
  watch(world, broken) {
    const runs = runsOf(world, "hook");
    const seen = objectsOf(world, "hook");
    return () => {
      const end = runs.find(({ did }) => did === "end")?.atMs ?? Infinity;
      const tookMs = end - DELETED_MS;
      if (tookMs > LIMIT_MS || tookMs < (GRACE_SECONDS - 1) * SECOND)
        broken(`the container ended ${tookMs} ms after the deletion, with ${GRACE_SECONDS} s of grace`, "hook");
      if (seen.at(-1)?.type !== "DELETED") broken("the object is still there", "hook");
    };
  },
};
