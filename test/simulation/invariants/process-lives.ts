// The kubelet never ends by itself.

import type { Invariant } from "./invariant.js";

export const processLives: Invariant = {
  name: "the kubelet never ends by itself",
  promisedBy: "docs/adr/0040-blast-radius.md",
  watch(world, broken) {
    return () => {
      const { kubelet } = world;
      if (kubelet?.gaveUp !== undefined) broken(`the kubelet gave up: ${kubelet.gaveUp}`);
      if (kubelet?.agent === undefined) broken("the kubelet has not started though all faults are over");
    };
  },
};
