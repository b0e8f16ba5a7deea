// A node without a cluster shuts down: its API answers meanwhile, and has all objects after the boot.

import { kernel } from "../kernel/kernel.js";
import { PLAIN_NODE, withShutdownPeriods } from "../world/node-shape.js";
import { podNameOf } from "../world/pod-facts.js";
import { IMAGES } from "../world/runtime.js";
import type { World } from "../world/world.js";
import { objectsOf, podOf, runsOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const node = withShutdownPeriods({ ...PLAIN_NODE, hasOwnApi: true }, 40, 10);
const BEGINS_MS = 120 * SECOND;
/** It takes its time. */
const usual = podOf({ name: "usual", script: { stopsMs: 5 * SECOND }, graceSeconds: 20 });
/** It ignores SIGTERM. */
const slow = podOf({ name: "slow", script: { stopsMs: Infinity }, graceSeconds: 60 });
const set = (value: string) => ({ do: "map-set", name: "map-0", value }) as const;

const shutdown = (otherMs: number) => ({ do: "shutdown", downMs: 20 * SECOND, otherMs }) as const;

function mapOf({ api }: World): string | undefined {
  return (api.store.get("configmaps", "default", "map-0")?.["data"] as { value?: string } | undefined)?.value;
}

function reasonOf({ api }: World, name: string): string {
  const { phase = "", reason = "" } = (api.store.get("pods", "default", name)?.status ?? {}) as {
    phase?: string;
    reason?: string;
  };
  return `${phase} ${reason}`.trim();
}

/** Steady moments at which the map changed. */
function changesOf({ api }: World): number[] {
  const seen: number[] = [];
  api.onChange("configmaps", () => void seen.push(kernel.monotonic));
  return seen;
}

export const ownApiShutsDown: Race = {
  name: "own-api-shuts-down",
  promise: "The node's own API answers in a shutdown, and has the ends of pods and all edits after the boot",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, set("one")],
    [20 * SECOND, { do: "create", shape: usual }],
    [BEGINS_MS, shutdown(0)],
    [BEGINS_MS + 2 * SECOND, set("during")],
    [BEGINS_MS + 2 * SECOND, { do: "create", shape: podOf({ name: "late" }) }],
    [BEGINS_MS + 60 * SECOND, { do: "create", shape: podOf({ name: "later" }) }],
  ],
  watch(world, broken) {
    const changes = changesOf(world);
    const later = objectsOf(world, "later");
    return () => {
      if (!changes.some((atMs) => atMs > BEGINS_MS && atMs < BEGINS_MS + 4 * SECOND))
        broken("the race did not come about, or the change waited for the boot");
      if (mapOf(world) !== "during") broken(`the map has ${mapOf(world)}`);
      if (reasonOf(world, "usual") !== "Failed Terminated") broken(`the pod is ${reasonOf(world, "usual")}`, "usual");
      if (reasonOf(world, "late") !== "Failed NodeShutdown") broken(`the pod is ${reasonOf(world, "late")}`, "late");
      if (later.at(-1)?.isReady !== true) broken("a pod that came after the boot is not ready", "later");
    };
  },
};

export const powerLossInOwnShutdown: Race = {
  name: "power-loss-in-own-shutdown",
  promise: "After a power loss in a shutdown a pod that had ended stays so, and the others run with what was edited",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: usual }],
    [20 * SECOND, { do: "create", shape: slow }],
    [BEGINS_MS, shutdown(0)],
    [BEGINS_MS + 2 * SECOND, { do: "edit", name: "slow", image: IMAGES[1] ?? "" }],
    [BEGINS_MS + 9 * SECOND, { do: "reboot", downMs: 10 * SECOND, loses: "all" }],
  ],
  watch(world, broken) {
    const runs = runsOf(world, "usual");
    return () => {
      if (!runs.some(({ did, atMs }) => did === "end" && atMs > BEGINS_MS && atMs < BEGINS_MS + 9 * SECOND))
        broken("the race did not come about");
      if (reasonOf(world, "usual") !== "Failed Terminated") broken(`the pod is ${reasonOf(world, "usual")}`, "usual");
      const newest = [...world.runtime.state.containers.values()].findLast(
        ({ config }) => podNameOf(config.labels) === "slow",
      );
      if (reasonOf(world, "slow") !== "Running") broken(`the pod is ${reasonOf(world, "slow")}`, "slow");
      if (newest?.config.image?.userSpecifiedImage !== IMAGES[1])
        broken(`the pod runs with ${newest?.config.image?.userSpecifiedImage}`, "slow");
    };
  },
};
