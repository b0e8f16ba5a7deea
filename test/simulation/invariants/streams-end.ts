// A client with rights gets its stream, or an answer, soon. A stream ends soon after the runtime has ended it, or its
// client has left: then neither end of it is left.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import type { StreamSession } from "../world/stream-session.js";
import type { World } from "../world/world.js";
import { isCalm } from "./calm.js";
import type { Broken, Invariant } from "./invariant.js";

const CALM_MS = 60_000;
const EVERY_MS = 5000;
const SOON_MS = 5000;
/** From the end of one side until the kubelet cuts both, and from the request until the runtime's answer. */
const PATIENCE_MS = 30_000;
/** A slow client has read the remaining bytes after so long. */
const SLOW_MS = 120_000;
/** The pod has come to the port's thread. */
const KNOWN_MS = 60_000;

export const streamsEnd: Invariant = {
  name: "streams begin, and end with their container or client",
  promisedBy: "docs/adr/0036-websocket-streams.md",
  watch(world, broken) {
    const { streams } = world;
    if (streams === undefined) return undefined;
    streams.onEnd.add((session) => checkAnswer(world, session, broken));
    const look = (): void => {
      if (isCalm(world, CALM_MS)) for (const session of streams.all) checkOpen(session, broken);
      kernel.after(kernel.world, EVERY_MS, look);
    };
    kernel.after(kernel.world, EVERY_MS, look);
    return undefined;
  },
};

function checkOpen(
  { number, kind, pod, beganAt, status, endedAt, leftAt, runtime, use }: StreamSession,
  broken: Broken,
): void {
  const now = kernel.monotonic;
  const wrong = (what: string): void => broken(`stream ${number} (${kind}) ${what}`, pod);
  if (status === 0 && endedAt === undefined && now - beganAt > PATIENCE_MS + SOON_MS) wrong("has no answer");
  const goesMs = now - Math.min(endedAt ?? Infinity, leftAt ?? Infinity);
  const isOpenThere = runtime !== undefined && runtime.leftAt === undefined && runtime.endedAt === undefined;
  if (isOpenThere && goesMs > PATIENCE_MS + SOON_MS) wrong(`goes on ${goesMs} ms after its client has left`);
  const restMs = now - (runtime?.endedAt ?? now);
  const lastMs = (use.lingers === true ? PATIENCE_MS : 0) + (use.paceMs > 0 ? SLOW_MS : 0) + SOON_MS;
  if (endedAt === undefined && restMs > lastMs) wrong(`goes on ${restMs} ms after its end at the runtime`);
}

function checkAnswer(world: World, session: StreamSession, broken: Broken): void {
  const { number, kind, as, script, status, text, beganAt, id, pod } = session;
  const tookMs = kernel.monotonic - beganAt;
  if (as !== "reader" || status === 101 || !isCalm(world, CALM_MS + tookMs)) return;
  const createdAt = world.facts.pods.get(pod)?.createdAt ?? Infinity;
  if (beganAt - createdAt < KNOWN_MS || !isRunning(world, id)) return;
  if (script.isSilent !== true || status !== 500)
    broken(`stream ${number} (${kind}) is answered with ${status}: ${text.slice(0, 200)}`, pod);
}

function isRunning({ runtime }: World, id: string): boolean {
  const container = runtime.state.containers.get(id);
  return container === undefined
    ? runtime.state.sandboxes.has(id)
    : container.status.state === ContainerState.CONTAINER_RUNNING;
}
