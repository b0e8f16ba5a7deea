// The images that no container uses, for the nodelet command and the status page.

import type { Clock } from "../../shared/base/clock/clock.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { byEviction, NEVER, type KnownImage, type UnusedImage } from "../../shared/contracts/image-gc.js";

/** In the order in which collection removes them. */
export function unusedImagesOf(known: readonly KnownImage[], clock: Pick<Clock, "now" | "monotonic">): UnusedImage[] {
  const wall = (moment: number): number => Math.round(moment + clock.now() - clock.monotonic());
  return known
    .filter(({ unused }) => unused)
    .toSorted(byEviction)
    .map(({ id, lastUsed, firstSeen }) =>
      omitUndefined({
        id,
        lastUsedAt: lastUsed === NEVER ? undefined : wall(lastUsed),
        firstSeenAt: firstSeen === NEVER ? undefined : wall(firstSeen),
      }),
    );
}
