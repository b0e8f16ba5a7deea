// A stream on which nothing moves ends after streamingConnectionIdleTimeout, at the latest after a quarter of it more:
// the kubelet looks four times in that time. No other stream is cut.

import { kernel } from "../kernel/kernel.js";
import type { StreamSession } from "../world/stream-session.js";
import { isCalm } from "./calm.js";
import type { Invariant } from "./invariant.js";

const EVERY_MS = 5000;
const CALM_MS = 60_000;
const SLACK_MS = 2000;
/** The last bytes have been at the runtime a little later than at the kubelet. */
const WAY_MS = 20;

export const idleStreamsEnd: Invariant = {
  name: "idle streams end, and no others",
  promisedBy: "docs/adr/0036-websocket-streams.md",
  watch(world, broken) {
    const { streams, node } = world;
    if (streams === undefined || node.streams === undefined) return undefined;
    const idleMs = node.streams * 1000;
    streams.onEnd.add((session) => {
      const { number, kind, pod, beganAt } = session;
      const quietMs = quietOf(session);
      const isCut = session.closeCode === undefined && session.leftAt === undefined;
      if (quietMs === undefined || !isCut || !isCalm(world, kernel.monotonic - beganAt)) return;
      if (quietMs < idleMs - WAY_MS)
        broken(`stream ${number} (${kind}) is cut ${quietMs} ms after its last bytes`, pod);
    });
    const look = (): void => {
      for (const session of streams.open) {
        const quietMs = quietOf(session);
        if (quietMs === undefined || !isCalm(world, Math.max(CALM_MS, quietMs))) continue;
        if (quietMs > 1.25 * idleMs + SLACK_MS)
          broken(`stream ${session.number} (${session.kind}) goes on ${quietMs} ms after its last bytes`, session.pod);
      }
      kernel.after(kernel.world, EVERY_MS, look);
    };
    kernel.after(kernel.world, EVERY_MS, look);
    return undefined;
  },
};

/** Time since the last bytes of a session that is open at the runtime. Of a slow client they wait in the kubelet. */
function quietOf({ runtime, use }: StreamSession): number | undefined {
  if (runtime === undefined || runtime.endedAt !== undefined || use.paceMs > 0) return undefined;
  return kernel.monotonic - runtime.movedAt;
}
