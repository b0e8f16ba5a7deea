// A client without the right to exec, attach or forward a port gets 401 or 403, and the runtime is not asked for it.

import { kernel } from "../kernel/kernel.js";
import type { StreamKind, StreamSession } from "../world/stream-session.js";
import type { World } from "../world/world.js";
import { isCalm } from "./calm.js";
import type { Invariant } from "./invariant.js";

const CALM_MS = 60_000;
/** A call of the runtime may take so long before it has an effect. */
const LATE_MS = 120_000;
const STATUS_OF = { nosy: 403, unknown: 401, none: 401 } as const;

export const streamsNeedRights: Invariant = {
  name: "only clients with rights get streams",
  promisedBy: "docs/adr/0028-authenticated-server.md",
  watch(world, broken) {
    const { streams } = world;
    streams?.server.onCall.add((kind, id, command) => {
      const session = sessionOf(world, kind, command);
      if (session === undefined) broken(`the runtime is asked for ${kind} in ${id}, which no client with rights wants`);
      else session.calledAt = kernel.monotonic;
    });
    streams?.onEnd.add(({ number, kind, as, status, text, pod, beganAt }) => {
      if (as === "reader") return;
      const isWrong = status !== STATUS_OF[as] && isCalm(world, CALM_MS + kernel.monotonic - beganAt);
      if (status === 101 || isWrong)
        broken(`stream ${number} (${kind}) of ${as} is answered with ${status}: ${text.slice(0, 200)}`, pod);
    });
    return undefined;
  },
};

/** A request with rights that explains the call. */
function sessionOf({ streams }: World, kind: StreamKind, [, number]: readonly string[]): StreamSession | undefined {
  return [...(streams?.all ?? [])].find(
    (one) =>
      one.as === "reader" &&
      one.kind === kind &&
      one.calledAt === undefined &&
      kernel.monotonic - one.beganAt < LATE_MS &&
      (number === undefined || one.number === Number(number)),
  );
}
