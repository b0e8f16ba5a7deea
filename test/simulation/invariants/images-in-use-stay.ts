// An image in use is never removed.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podNameOf } from "../world/pod-facts.js";
import type { Invariant } from "./invariant.js";

export const imagesInUseStay: Invariant = {
  name: "an image in use stays",
  promisedBy: "SPECIFICATION.md",
  watch({ runtime }, broken) {
    runtime.watchers.add((verb, request) => {
      if (verb !== "RemoveImage") return;
      const { image } = request as { image?: { image: string } };
      const removed = runtime.state.image(image?.image ?? "");
      for (const { status, config } of runtime.state.containers.values()) {
        if (status.state !== ContainerState.CONTAINER_RUNNING || status.imageId !== removed?.id) continue;
        broken(`RemoveImage of ${image?.image ?? ""}, which runs`, podNameOf(config.labels));
      }
    });
    return undefined;
  },
};
