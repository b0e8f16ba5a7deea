// State files can be read after any crash: none is ever set aside. Records that a reboot makes useless are not synced,
// so the first start after a power loss may find them torn.

import { kernel } from "../kernel/kernel.js";
import { ROOT } from "../world/machine-files.js";
import type { Invariant } from "./invariant.js";

/** Nor is this one, which is read when the first DRA driver registers: once after each power loss it may be torn. */
const HEALTH = `${ROOT}/dra_health_state`;
const NOT_SYNCED = ["pods", "probes"].map((folder) => `${ROOT}/nodelet/${folder}/`);

export const recordsAreReadable: Invariant = {
  name: "records are readable after a crash",
  promisedBy: "docs/adr/0044-durability-and-fail-closed.md",
  watch: ({ onLog, facts }, broken) => {
    let tornAt = -Infinity;
    onLog.add(({ msg }) => {
      if (!msg.includes("is not usable: set aside")) return;
      if (msg.includes(`${HEALTH} is`) && facts.lastRebootAt > tornAt) {
        tornAt = kernel.monotonic;
        return;
      }
      if (facts.hasStartedSinceReboot || !NOT_SYNCED.some((folder) => msg.includes(folder))) broken(msg);
    });
    return undefined;
  },
};
