// A pod is deleted while its image is pulled.

import { callsOf, objectsOf, podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const DELETED_MS = 30 * SECOND;
/** The kubelet does not wait for the pull. */
const GONE_MS = DELETED_MS + 5 * SECOND;

export const deletedDuringPull: Race = {
  name: "deleted-during-pull",
  promise: "A pod that is deleted while its image is pulled never starts, and its object goes at once",
  issue: "https://github.com/kubernetes/kubernetes/issues/125050",
  events: [
    [10 * SECOND, { do: "runtime-error", verb: "PullImage", spec: "1*delay(60000)", when: "before" }],
    [20 * SECOND, { do: "create", shape: podOf({ name: "pulling" }) }],
    [DELETED_MS, { do: "delete", name: "pulling", graceSeconds: undefined }],
  ],
  watch(world, broken) {
    const calls = callsOf(world, "pulling");
    const seen = objectsOf(world, "pulling");
    const pulls: string[] = [];
    world.runtime.watchers.add((verb) => void (verb === "PullImage" && pulls.push(verb)));
    return () => {
      if (pulls.length === 0) broken("the race did not come about", "pulling");
      const made = calls.filter(({ verb }) => verb === "CreateContainer" || verb === "StartContainer");
      if (made.length > 0) broken(`${made[0]?.verb} came after the deletion`, "pulling");
      const gone = seen.find(({ type }) => type === "DELETED")?.atMs ?? Infinity;
      if (gone > GONE_MS) broken(`the object went ${gone - DELETED_MS} ms after the deletion`, "pulling");
    };
  },
};
