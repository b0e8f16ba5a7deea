// The condition of a pressure appears soon after its shortage begins, and stays for evictionPressureTransitionPeriod
// after the last sign of it.

import { kernel } from "../kernel/kernel.js";
import { TRANSITION_MS } from "../world/node-shape.js";
import { PRESSURES, type Signal } from "../world/signals.js";
import type { World } from "../world/world.js";
import { isQuiet } from "./eviction-orders.js";
import type { Invariant } from "./invariant.js";

/** A reading that the eviction thread did not make itself. */
const EARLIER_MS = 2000;
/** The disks are read at least every ten seconds, and the status of the node is sent. */
const APPEARS_MS = 30_000;

interface Node {
  status?: { conditions?: { type: string; status: string }[] };
}

export const pressuresLast: Invariant = {
  name: "a pressure begins with its shortage, and lasts for its transition period",
  promisedBy: "docs/adr/0030-eviction.md",
  watch(world, broken) {
    const { signals } = world;
    if (signals === undefined) return undefined;
    const shown = new Map<string, string>();
    const ended = (pressure: string): void => {
      const passed = kernel.monotonic - signals.pressedAt(pressure);
      if (passed < TRANSITION_MS - EARLIER_MS && isQuiet(world))
        broken(`the condition ${pressure} ends ${Math.round(passed)} ms after the last sign of it`);
    };
    world.api.onChange("nodes", ({ object }) => {
      for (const { type, status } of (object as Node).status?.conditions ?? []) {
        if (shown.get(type) === "True" && status === "False") ended(type);
        shown.set(type, status);
      }
    });
    const end = (signal: Signal): void => {
      const pressure = PRESSURES[signal];
      if (isShortSince(world, signal, APPEARS_MS) && shown.get(pressure) !== "True")
        broken(`the condition ${pressure} is ${shown.get(pressure)} ${APPEARS_MS} ms after the shortage began`);
    };
    signals.onShortageEnd.add(end);
    return undefined;
  },
};

function isShortSince(world: World, signal: Signal, ms: number): boolean {
  const thresholds = world.signals?.of(signal) ?? [];
  return isQuiet(world) && thresholds.some(({ since = Infinity }) => kernel.monotonic - since > ms);
}
