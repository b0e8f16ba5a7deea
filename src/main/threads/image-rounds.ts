// The rounds of image garbage collection, as main asks the image-gc thread for them. The thread runs for the length
// of a round.

import type { Clock } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { Loop } from "../../shared/base/turns/loop.js";
import type { ImageGcUpcalls } from "../../shared/contracts/image-gc.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { ThreadExitedError } from "../../shared/thread/errors.js";

/** Between two detections of images; if collection is on, each of them also collects. Upstream's period. */
const PERIOD_MS = 5 * 60_000;
/** Main does not know all users yet, or the thread failed and is restarted. */
const RETRY_MS = 1000;

export interface ImageRoundsDeps {
  /** Main knows who uses which image. */
  settled: () => Promise<boolean>;
  collect: () => Promise<void>;
  warn: ImageGcUpcalls["warn"];
  clock: Clock;
  log: Logger;
}

/** The first round comes as soon as main knows the users of images. */
export function imageRounds({ settled, collect, warn, clock, log }: ImageRoundsDeps): Loop {
  let failedBefore = false;
  return new Loop({
    clock,
    periodMs: PERIOD_MS,
    round: async () => {
      if (!(await settled())) return RETRY_MS;
      await collect();
      failedBefore = false;
      return PERIOD_MS;
    },
    failed: (error) => {
      // The supervisor reports its end.
      if (error instanceof ThreadExitedError) return RETRY_MS;
      const message = messageOf(error);
      log.error({ err: error }, `image garbage collection failed: ${message}`);
      // The first failure may be the runtime's start; the second in a row is the operator's to know.
      if (failedBefore) warn("ImageGCFailed", message);
      failedBefore = true;
      return PERIOD_MS;
    },
  });
}
