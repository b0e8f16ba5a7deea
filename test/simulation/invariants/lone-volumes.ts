// A CSI volume whose only access mode is ReadWriteOncePod is published for one pod at a time. When that one has ended,
// a pod that waits gets it.

import { isFinalPhase } from "../../../src/main/model/phase.js";
import type { PodPhase } from "../../../src/shared/kubernetes/api/pod-status.js";
import { namespaceOf } from "../plan/pod-shapes.js";
import { LONE_CLAIM, volumeOf } from "../world/csi-plugin.js";
import type { Invariant } from "./invariant.js";

const VOLUME = volumeOf(LONE_CLAIM);

export const loneVolumes: Invariant = {
  name: "a volume for one pod has one",
  promisedBy: "docs/adr/0027-persistent-volumes.md",
  watch({ csi, node, facts, api }, broken) {
    if (csi === undefined || node.hasLoneVolume !== true) return undefined;
    csi.onPublish.add((volume, target) => {
      const other = [...csi.published].find(([, published]) => published === volume)?.[0];
      if (volume === VOLUME && other !== undefined) broken(`${volume} is published at ${target}, and at ${other}`);
    });
    return () => {
      if ([...csi.published.values()].includes(VOLUME)) return;
      for (const { shape } of facts.wanted) {
        const { phase } = (api.store.get("pods", namespaceOf(shape), shape.name)?.status ?? {}) as { phase?: PodPhase };
        if (shape.claim === LONE_CLAIM && phase !== undefined && !isFinalPhase(phase))
          broken(`no pod has ${VOLUME}, and the pod waits for it`, shape.name);
      }
    };
  },
};
