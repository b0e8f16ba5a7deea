// image volumes: the files of an image, mounted read-only by the runtime. Nothing of it is on the node's disk but the
// image itself. The image is fetched before the first container that mounts it, and there is nothing to tear down.

import { VolumeSetUpError } from "../errors.js";
import type { VolumePlugin } from "../plugin.js";

export function imagePlugin(): VolumePlugin {
  return {
    name: "kubernetes.io/image",
    source: "image",
    setUp({ pod, volume }) {
      const { image } = volume;
      if (image?.reference === undefined || image.reference === "") {
        return Promise.reject(new VolumeSetUpError(pod, volume.name, "image.reference is empty; name the image"));
      }
      return Promise.resolve({ image });
    },
  };
}
