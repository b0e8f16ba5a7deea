// The images in the Node object: requested from the pleg thread periodically. A failure keeps the list.

import type { Clock } from "../../shared/base/clock/clock.js";
import { Loop } from "../../shared/base/turns/loop.js";
import type { ContainerImage } from "../../shared/kubernetes/api/node.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../shared/telemetry/log/thread-log.js";

/** Upstream's age limit of its list. */
const IMAGES_PERIOD_MS = 30000;
/** The thread that lists them is not there yet, or away. */
const RETRY_MS = 1000;

interface NodeImagesOptions {
  list: () => Promise<ContainerImage[]>;
  found: (images: ContainerImage[]) => void;
  clock: Clock;
  log: Pick<Logger, "debug">;
}

/** The first list is requested at once. Returns a function that ends it. */
export function watchNodeImages({ list, found, clock, log }: NodeImagesOptions): () => void {
  const loop = new Loop({
    clock,
    periodMs: IMAGES_PERIOD_MS,
    round: async (signal) => {
      const images = await list();
      if (!signal.aborted) found(images);
      return IMAGES_PERIOD_MS;
    },
    failed: (error) => {
      log.debug(`cannot list the images for the node status; trying again later: ${errorText(error)}`);
      return RETRY_MS;
    },
  });
  loop.start();
  // A list under way reports nothing after this call.
  return () => void loop.stop();
}
