// The kubelet never ends by itself, except for a fault that keeps it from starting; then the next start succeeds.

import { kernel } from "../kernel/kernel.js";
import type { Invariant } from "./invariant.js";

/** After the end of the last fault. */
const SETTLED_MS = 60_000;

export const processLives: Invariant = {
  name: "the kubelet never ends by itself",
  promisedBy: "docs/adr/0040-blast-radius.md",
  watch: (world, broken) => {
    world.onGaveUp.add((reason) => {
      if (kernel.monotonic - world.facts.lastFaultAt > SETTLED_MS) broken(`the kubelet gave up: ${reason}`);
    });
    return () => {
      if (world.kubelet?.agent === undefined) broken("the kubelet has not started though all faults are over");
    };
  },
};
