// A CSI volume is staged only while it is attached. It stays in volumesInUse until it is unstaged, so that no
// controller detaches it before.

import type { Invariant } from "./invariant.js";

export const volumesAreAttached: Invariant = {
  name: "CSI volumes are attached while they are staged",
  promisedBy: "docs/adr/0027-persistent-volumes.md",
  watch({ attachments, csi }, broken) {
    if (attachments === undefined || csi === undefined) return undefined;
    csi.onStage.add((volume) => {
      if (!attachments.isAttached(volume)) broken(`${volume} is staged before it is attached`);
    });
    attachments.onDetach.add((volume) => {
      if (csi.staged.has(volume)) broken(`${volume} is staged, and the node no longer shows it as in use`);
    });
    return () => {
      for (const volume of csi.staged.keys())
        if (!attachments.isAttached(volume)) broken(`${volume} is staged and not attached`);
    };
  },
};
