// The biggest images of the runtime, as the Node object lists them.

import type { ContainerImage } from "../../shared/kubernetes/api/node.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { isImageName } from "./bounds.js";

/** Most names of each image; upstream's figure. */
const MAX_NAMES = 5;

/** Biggest first; a negative `max` means all of them. */
export async function biggestImages(cri: Pick<CriClient, "listImages">, max: number): Promise<ContainerImage[]> {
  const { images } = await cri.listImages({});
  const sorted = images.toSorted((a, b) => Number(b.size - a.size) || (a.id < b.id ? 1 : -1));
  return (max < 0 ? sorted : sorted.slice(0, max)).map(({ repoDigests, repoTags, size }) => ({
    names: [...repoDigests, ...repoTags].filter(isImageName).slice(0, MAX_NAMES),
    sizeBytes: Number(size),
  }));
}
