// Bytes of an exec, attach or port-forward arrive soon and in their order, each once, in both directions. What the
// runtime has written before it ends the session reaches a client that stays, and what the client has sent before it
// closes its WebSocket reaches the runtime.

import { kernel } from "../kernel/kernel.js";
import type { StreamSession } from "../world/stream-session.js";
import type { World } from "../world/world.js";
import { isCalm } from "./calm.js";
import type { Broken, Invariant } from "./invariant.js";

const EVERY_MS = 5000;
const CALM_MS = 60_000;
/** Bytes that one side has sent are at the other one after so long, unless it takes its time. */
const SOON_MS = 5000;

export const streamsAreWhole: Invariant = {
  name: "bytes of streams arrive whole and in order",
  promisedBy: "docs/adr/0129-end-of-a-stream.md",
  watch(world, broken) {
    const { streams } = world;
    if (streams === undefined) return undefined;
    streams.onEnd.add((session) => checkOutput(session, broken));
    const seen = new Set<StreamSession>();
    const look = (): void => {
      for (const session of streams.all) {
        const { number, kind, wrong, pod, runtime } = session;
        if (wrong !== undefined) broken(`${wrong} (stream ${number}, ${kind})`, pod);
        checkMoves(world, session, broken);
        if (runtime?.leftAt === undefined || seen.has(session)) continue;
        seen.add(session);
        checkInput(world, session, broken);
      }
      kernel.after(kernel.world, EVERY_MS, look);
    };
    kernel.after(kernel.world, EVERY_MS, look);
    return undefined;
  },
};

/** Nothing waits in the kubelet while both sides read. */
function checkMoves(world: World, session: StreamSession, broken: Broken): void {
  const { number, kind, pod, runtime, use, got, sent, hasSentEnd, leftAt, endedAt } = session;
  if (runtime === undefined || runtime.endedAt !== undefined || runtime.leftAt !== undefined) return;
  const isStill = kernel.monotonic - Math.max(runtime.movedAt, session.sentAt ?? 0) > SOON_MS;
  if (!isStill || use.paceMs > 0 || leftAt !== undefined || endedAt !== undefined || !isCalm(world, CALM_MS)) return;
  const wrong = (what: string): void => broken(`${what} (stream ${number}, ${kind})`, pod);
  if (runtime.received < sent) wrong(`${sent - runtime.received} bytes of the input wait`);
  if (hasSentEnd && !runtime.hasEnd) wrong("the end of the input waits");
  for (const [channel, wrote] of Object.entries(runtime.wrote))
    if ((got[Number(channel)] ?? 0) < wrote) wrong(`bytes of channel ${channel} wait`);
}

function checkOutput({ number, kind, pod, runtime, leftAt, closeCode, got }: StreamSession, broken: Broken): void {
  if (runtime?.endedAt === undefined || leftAt !== undefined || closeCode !== 1000) return;
  for (const [channel, wrote] of Object.entries(runtime.wrote)) {
    const came = got[Number(channel)] ?? 0;
    if (came !== wrote)
      broken(`a client gets ${came} bytes of ${wrote} on channel ${channel} (stream ${number}, ${kind})`, pod);
  }
}

/** The client has closed its WebSocket, and the kubelet has ended the runtime's connection after that. */
function checkInput(world: World, session: StreamSession, broken: Broken): void {
  const { number, kind, pod, runtime, leftAt, sent, use, beganAt, script } = session;
  if (runtime === undefined || leftAt === undefined || use.drops === true || script.breaksMs !== undefined) return;
  // What a command does not read in time is cut with the connection.
  const isSlow = use.paceMs > 0;
  if (isSlow || !isCalm(world, kernel.monotonic - beganAt)) return;
  if (runtime.received !== sent)
    broken(`the runtime gets ${runtime.received} bytes of ${sent} of the input (stream ${number}, ${kind})`, pod);
}
