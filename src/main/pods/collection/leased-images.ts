// Prepares images under a lease. Image GC then removes none between the check of the image and the creation of its
// container.

import { quote } from "../../../shared/base/text/quote.js";
import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../shared/kubernetes/api/volume.js";
import type { PodSandboxConfig } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ReadyImage } from "../../containers/images/image-puller.js";
import type { ImageProvider } from "../../containers/runtime/node-runtime.js";
import { StartContainerError } from "../../model/step-errors.js";
import { ImageBeingRemovedError, type ImageLeases } from "./image-leases.js";
import type { ImageUsers } from "./image-users.js";

/** A removal in the middle is rare; twice in a row it is no longer chance. */
const MAX_TRIES = 3;

export class LeasedImages implements ImageProvider {
  constructor(
    private readonly images: ImageProvider,
    private readonly leases: ImageLeases,
    private readonly users: ImageUsers,
  ) {}

  ensure(pod: Pod, container: Container, sandbox: PodSandboxConfig, signal: AbortSignal): Promise<ReadyImage> {
    const need = { pod, user: `container ${container.name}`, reference: container.image ?? "" };
    return this.leased(need, () => this.images.ensure(pod, container, sandbox, signal), signal);
  }

  ensureVolume(
    pod: Pod,
    volume: Pick<Volume, "name" | "image">,
    sandbox: PodSandboxConfig,
    signal: AbortSignal,
  ): Promise<{ imageRef: string }> {
    const need = { pod, user: `volume ${volume.name}`, reference: volume.image?.reference ?? "" };
    return this.leased(need, () => this.images.ensureVolume(pod, volume, sandbox, signal), signal);
  }

  private async leased<Ready extends { imageRef: string }>(
    { pod, user, reference }: { pod: Pod; user: string; reference: string },
    makeReady: () => Promise<Ready>,
    signal: AbortSignal,
  ): Promise<Ready> {
    const lease = await this.leases.lease(reference, signal).catch((error: unknown) => {
      throw toStartError(error);
    });
    try {
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const ready = await makeReady();
        if (!(await lease.holds(ready.imageRef, signal))) continue;
        // No await between the result and this: from here on the wanted pod protects the image.
        this.users.madeReady(pod.metadata.uid, user, ready.imageRef);
        return ready;
      }
    } catch (error) {
      throw toStartError(error);
    } finally {
      lease.end();
    }
    throw new StartContainerError(
      "ImageInspectError",
      `image ${quote(reference)} was removed ${MAX_TRIES} times while it was being prepared`,
    );
  }
}

/** The container waits and tries again; its pod's other containers continue. */
function toStartError(error: unknown): unknown {
  if (!(error instanceof ImageBeingRemovedError)) return error;
  return new StartContainerError("ImageInspectError", error.message, undefined, { cause: error });
}
