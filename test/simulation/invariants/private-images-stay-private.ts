// A container runs with a private image only if its pod has credentials for it, also where another pod's pull has
// brought the image. The credentials of a registry are never sent to another.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podNameOf } from "../world/pod-facts.js";
import { SECRET_IMAGE } from "../world/registry.js";
import type { Invariant } from "./invariant.js";

export const privateImagesStayPrivate: Invariant = {
  name: "private images run only with credentials",
  promisedBy: "docs/adr/0016-image-pulls.md",
  watch({ facts, registries, runtime }, broken) {
    if (registries === undefined) return undefined;
    registries.onForeign.add((image) => broken(`${image} is pulled with the credentials of another registry`));
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType !== ContainerEventType.CONTAINER_STARTED_EVENT) return;
      const config = runtime.state.containers.get(containerId)?.config;
      if (config?.image?.userSpecifiedImage !== SECRET_IMAGE) return;
      const name = podNameOf(config.labels);
      if (facts.pods.get(name)?.shape.spec["imagePullSecrets"] !== undefined) return;
      broken(`${config.metadata?.name} runs with ${SECRET_IMAGE}, and its pod has no credentials for it`, name);
    });
    return undefined;
  },
};
