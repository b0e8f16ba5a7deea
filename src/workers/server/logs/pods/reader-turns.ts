// Turns of a server thread for all readers of containers' logs, by any of its ports. Readers use a processor as long as
// there are bytes; everything else on the thread is short work in many rounds.
// Invariant: one of these a thread. A reader's piece is scanned in its turn; after each share the thread rests.

import type { Clock } from "../../../../shared/base/clock/clock.js";
import { LoopShare } from "../../../../shared/base/turns/loop-share.js";

/** After a share of 5 ms. A file or another thread answers some ten times in it. */
const REST_MS = 1;

export type ReaderTurns = Pick<LoopShare, "turn">;

export function readerTurns(clock: Pick<Clock, "monotonic" | "sleep">): ReaderTurns {
  return new LoopShare(clock, () => clock.sleep(REST_MS));
}
