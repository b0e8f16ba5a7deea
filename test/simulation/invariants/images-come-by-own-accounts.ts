// The credentials of a service account pull images for pods of that account only, and a container runs with such an
// image only if its pod's account may have it, also where another pod's pull has brought the image.

import { ContainerEventType, type PullImageRequest } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podNameOf } from "../world/pod-facts.js";
import { IMAGE_A, IMAGE_B, keyOf } from "../world/service-accounts.js";
import type { Invariant } from "./invariant.js";

const IMAGES = new Set([IMAGE_A, IMAGE_B]);

export const imagesComeByOwnAccounts: Invariant = {
  name: "images come by the pod's own service account",
  promisedBy: "docs/adr/0016-image-pulls.md",
  watch({ accounts, api, runtime }, broken) {
    if (accounts === undefined) return undefined;
    /** By UID of the pod; static pods have none. */
    const accountOf = new Map<string, string>();
    api.onPod(({ object: { metadata, spec } }) => {
      const { uid = "", namespace = "" } = metadata;
      accountOf.set(uid, keyOf({ namespace, name: String(spec?.["serviceAccountName"]) }));
    });
    accounts.onWrong.add((what) => broken(what));
    runtime.watchers.add((verb, request) => {
      if (verb !== "PullImage") return;
      const { auth, image, sandboxConfig } = request as PullImageRequest;
      // Names of users are those of accounts, and no other registry has a user with such a name.
      if (auth?.username.includes("/") !== true) return;
      const name = image?.image ?? "";
      const own = accountOf.get(sandboxConfig?.metadata?.uid ?? "");
      if (own === auth.username && IMAGES.has(name)) return;
      broken(`${name} is pulled as ${auth.username}, for a pod of ${own}`, sandboxConfig?.metadata?.name);
    });
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType !== ContainerEventType.CONTAINER_STARTED_EVENT) return;
      const config = runtime.state.containers.get(containerId)?.config;
      const image = config?.image?.userSpecifiedImage ?? "";
      if (config === undefined || !IMAGES.has(image)) return;
      const own = accountOf.get(config.labels["io.kubernetes.pod.uid"] ?? "");
      if (own !== undefined && accounts.mayStart(own, image)) return;
      broken(`${config.metadata?.name} runs with ${image}, which ${own} may not have`, podNameOf(config.labels));
    });
    return undefined;
  },
};
