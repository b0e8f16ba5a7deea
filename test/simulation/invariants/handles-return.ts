// Open files do not grow with what has ended.

import { disk } from "../disk/machine-disk.js";
import type { Invariant } from "./invariant.js";

const OWN = 40;
const PER_POD = 12;

export const handlesReturn: Invariant = {
  name: "open files return",
  promisedBy: "SPECIFICATION.md",
  watch:
    ({ facts }, broken) =>
    () => {
      const open = disk.tree.descriptors.size;
      const most = OWN + PER_POD * facts.pods.size;
      if (open > most) broken(`${open} files are open with ${facts.pods.size} pods`);
    },
};
