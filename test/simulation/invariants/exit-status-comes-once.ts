// A client of exec or attach gets one exit status, after all output: that of the runtime, or a failure if the runtime
// has broken off without one.

import { kernel } from "../kernel/kernel.js";
import type { StreamSession } from "../world/stream-session.js";
import type { World } from "../world/world.js";
import { isCalm } from "./calm.js";
import type { Invariant } from "./invariant.js";

interface Status {
  status?: string;
  reason?: string;
  details?: { causes?: { reason?: string; message?: string }[] };
}

export const exitStatusComesOnce: Invariant = {
  name: "the exit status of a command comes once",
  promisedBy: "docs/adr/0036-websocket-streams.md",
  watch(world, broken) {
    world.streams?.onEnd.add((session) => {
      if (session.kind === "portForward" || session.status !== 101) return;
      const what = faultOf(world, session);
      if (what !== undefined) broken(`${what} (stream ${session.number}, ${session.kind})`, session.pod);
    });
    return undefined;
  },
};

function faultOf(world: World, session: StreamSession): string | undefined {
  const { statuses, runtime, leftAt, closeCode, beganAt } = session;
  const [text] = statuses;
  if (statuses.length > 1) return `a client gets ${statuses.length} statuses`;
  if (text !== undefined) {
    const told = exitCodeOf(JSON.parse(text) as Status);
    if (told !== runtime?.exitCode)
      return `a client gets ${told ?? "a failure"} for ${runtime?.exitCode ?? "no"} exit code`;
    return undefined;
  }
  if (leftAt !== undefined || runtime?.endedAt === undefined) return undefined;
  if (closeCode === 1000) return "a client gets no status before the close frame";
  const idleMs = (world.node.streams ?? 0) * 1000;
  const isIdle = kernel.monotonic - runtime.movedAt >= idleMs;
  return isIdle || !isCalm(world, kernel.monotonic - beganAt) ? undefined : "a client gets no status";
}

/** Undefined: the command's exit code is not known. */
function exitCodeOf({ status, reason, details }: Status): number | undefined {
  if (status === "Success") return 0;
  const cause = details?.causes?.find((one) => one.reason === "ExitCode");
  return reason === "NonZeroExitCode" && cause !== undefined ? Number(cause.message) : undefined;
}
