// Open files, timers and watches do not grow with what has ended.

import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import type { Invariant } from "./invariant.js";

/** What the agent has at rest, and what a pod adds to it: /stats/summary keeps three files open for each cgroup. */
const HANDLES = {
  "open files": { own: 30, perPod: 12, count: () => disk.tree.descriptors.size },
  timers: { own: 80, perPod: 4, count: () => kernel.timersSet },
  watches: { own: 40, perPod: 4, count: () => disk.tree.watchers.size },
};

export const handlesReturn: Invariant = {
  name: "open files, timers and watches return",
  promisedBy: "SPECIFICATION.md",
  watch:
    ({ facts }, broken) =>
    () => {
      const pods = facts.pods.size;
      for (const [what, { own, perPod, count }] of Object.entries(HANDLES))
        if (count() > own + perPod * pods) broken(`${count()} ${what} with ${pods} pods`);
    },
};
