// State files can be read after any crash: none is ever set aside. Records that a reboot makes useless are not synced,
// so the first start after a power loss may find them torn.

import { ROOT } from "../world/machine-files.js";
import type { Invariant } from "./invariant.js";

const NOT_SYNCED = ["pods", "probes"].map((folder) => `${ROOT}/nodelet/${folder}/`);

export const recordsAreReadable: Invariant = {
  name: "records are readable after a crash",
  promisedBy: "docs/adr/0044-durability-and-fail-closed.md",
  watch: ({ onLog, facts }, broken) => {
    onLog.add(({ msg }) => {
      if (!msg.includes("is not usable: set aside")) return;
      if (facts.hasStartedSinceReboot || !NOT_SYNCED.some((folder) => msg.includes(folder))) broken(msg);
    });
    return undefined;
  },
};
