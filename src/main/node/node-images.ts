// The images that the Node object lists: asked of the image-gc thread now and then. A failure leaves the list as it is.
import type { ContainerImage } from "../../shared/api/node.js";
import type { Clock, Timer } from "../../shared/clock/clock.js";
import { errorText } from "../../shared/log/error-text.js";
import type { Logger } from "../../shared/log/logger.js";

/** Upstream's age limit of its list. */
export const IMAGES_PERIOD_MS = 30_000;
/** The thread that lists them is not there yet, or away. */
const RETRY_MS = 1000;

export interface NodeImagesOptions {
  list: () => Promise<ContainerImage[]>;
  found: (images: ContainerImage[]) => void;
  clock: Clock;
  log: Pick<Logger, "debug">;
}

/** The first list is asked for at once. Returns how to end it. */
export function watchNodeImages({ list, found, clock, log }: NodeImagesOptions): () => void {
  let timer: Timer | undefined;
  let stopped = false;
  const look = async (): Promise<void> => {
    let nextMs = IMAGES_PERIOD_MS;
    try {
      const images = await list();
      if (!stopped) found(images);
    } catch (error) {
      nextMs = RETRY_MS;
      log.debug(`cannot list the images for the node status; trying again later: ${errorText(error)}`);
    }
    if (!stopped) timer = clock.after(nextMs, () => void look()).unref();
  };
  void look();
  return () => {
    stopped = true;
    timer?.cancel();
  };
}
