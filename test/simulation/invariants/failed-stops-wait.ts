// A stop that the runtime refused is repeated after a pause, not at once: the pass failed, and its back-off counts.

import { kernel } from "../kernel/kernel.js";
import type { Invariant } from "./invariant.js";

const STOPS = new Set(["StopContainer", "StopPodSandbox"]);
/** Shorter than the first back-off. */
const PAUSE_MS = 500;
/** The kubelet learns late that the runtime is back, and repeats everything then. */
const RETURN_MS = 15_000;

export const failedStopsWait: Invariant = {
  name: "a failed stop is repeated after a pause",
  promisedBy: "docs/adr/0001-planner-and-doer.md",
  watch(world, broken) {
    const { runtime } = world;
    /** Steady moments of the last refusal, by id. */
    const refused = new Map<string, number>();
    let backUntil = -Infinity;
    // A new definition, a deletion, or another process: their passes need not wait.
    world.onEvent.add((action) => {
      refused.clear();
      if (action.do === "runtime-restart") backUntil = kernel.monotonic + action.ms + RETURN_MS;
    });
    runtime.onEnd.add((verb, code, request) => {
      if (STOPS.has(verb) && code === "UNKNOWN") refused.set(idOf(request), kernel.monotonic);
    });
    runtime.watchers.add((verb, request) => {
      const at = STOPS.has(verb) ? refused.get(idOf(request)) : undefined;
      if (at === undefined) return;
      refused.delete(idOf(request));
      const passed = kernel.monotonic - at;
      if (passed < PAUSE_MS && kernel.monotonic > backUntil)
        broken(`${verb} was repeated ${Math.round(passed)} ms after it failed`);
    });
    return undefined;
  },
};

function idOf(request: unknown): string {
  const { containerId, podSandboxId } = request as { containerId?: string; podSandboxId?: string };
  return containerId ?? podSandboxId ?? "";
}
