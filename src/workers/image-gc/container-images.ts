// The images of all containers the runtime has, those of other clients included: main has only the kubelet's pods.
// Listed once per look at the images, every few minutes.

import type { CriClient } from "../../shared/kubernetes/cri/client.js";

/** References, digests and ids from the runtime. */
export async function containerImages(cri: Pick<CriClient, "listContainers">, signal: AbortSignal): Promise<string[]> {
  const { containers } = await cri.listContainers({}, { signal });
  return containers.flatMap(({ image, imageRef, imageId }) => [image?.image ?? "", imageRef, imageId]);
}
