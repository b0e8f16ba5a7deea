// No more images are pulled at once than serializeImagePulls and maxParallelImagePulls allow, one that is there is not
// pulled again, and no container is made from one that is not whole.

import { kernel } from "../kernel/kernel.js";
import { LAYERED_IDS, LAYERED_IMAGES, type PullLimit } from "../world/image-layers.js";
import { isCalm } from "./calm.js";
import type { Invariant } from "./invariant.js";

const MOST: Readonly<Record<PullLimit, number>> = { one: 1, two: 2, any: Infinity };
/** A fault may last so long. */
const FAULT_MS = 45_000;
/** From the kubelet's look at the image to its pull. */
const SOON_MS = 1000;

export const pullsKeepTheirLimits: Invariant = {
  name: "pulls keep their limits, and images are whole",
  promisedBy: "docs/adr/0016-image-pulls.md",
  watch(world, broken) {
    const { runtime, node } = world;
    const most = MOST[node.pulls ?? "one"];
    /** Steady moments at which images became whole. */
    const wholeAt = new Map<string, number>();
    runtime.onEnd.add((verb, code, request) => {
      const { image } = request as { image?: { image: string } };
      if (verb === "PullImage" && code === "OK") wholeAt.set(image?.image ?? "", kernel.monotonic);
    });
    runtime.watchers.add((verb, request) => {
      if (verb === "CreateContainer") {
        const { config } = request as { config?: { image?: { image: string } } };
        const image = config?.image?.image ?? "";
        const isLayered = LAYERED_IDS.has(image) || LAYERED_IMAGES.includes(image);
        if (isLayered && runtime.state.image(image) === undefined)
          broken(`a container of ${image}, which is not whole`);
      }
      if (verb !== "PullImage") return;
      const { image = "" } = (request as { image?: { image: string } }).image ?? {};
      const count = 1 + runtime.verbsUnderWay().filter((one) => one === "PullImage").length;
      if (count > most) broken(`${image} is pulled beside ${count - 1} others`);
      const since = wholeAt.get(image) ?? Infinity;
      const isThere = runtime.state.image(image) !== undefined && kernel.monotonic - since > SOON_MS;
      if (isThere && LAYERED_IMAGES.includes(image) && isCalm(world, FAULT_MS))
        broken(`${image} is pulled, and is there since ${since}`);
    });
    return undefined;
  },
};
