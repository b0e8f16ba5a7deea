// The images of all containers the runtime has, those of others than the kubelet included: main knows of pods alone. Listed
// once per look at the images, every few minutes.
import type { CriClient } from "../../shared/cri/client.js";

/** References, digests and ids as the runtime gives them. */
export async function containerImages(cri: Pick<CriClient, "listContainers">, signal: AbortSignal): Promise<string[]> {
  const { containers } = await cri.listContainers({}, { signal });
  return containers.flatMap(({ image, imageRef, imageId }) => [image?.image ?? "", imageRef, imageId]);
}
