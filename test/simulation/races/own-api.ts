// A node without a cluster serves the API itself: power losses and kills around a line of its log, the files, and edits
// by hand.

import { kernel } from "../kernel/kernel.js";
import { PLAIN_NODE, type NodeShape } from "../world/node-shape.js";
import { OBJECTS, STORE } from "../world/own-store.js";
import type { World } from "../world/world.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const node: NodeShape = { ...PLAIN_NODE, hasOwnApi: true };
const set = (value: string) => ({ do: "map-set", name: "map-0", value }) as const;

function valueOf({ api }: World): string | undefined {
  return (api.store.get("configmaps", "default", "map-0")?.["data"] as { value?: string } | undefined)?.value;
}

/** Steady moments at which the map changed. */
function changesOf({ api }: World): { atMs: number; type: string }[] {
  const seen: { atMs: number; type: string }[] = [];
  api.onChange("configmaps", ({ type }) => void seen.push({ atMs: kernel.monotonic, type }));
  return seen;
}

const powerLossAfterFirstStart: Race = {
  name: "power-loss-after-first-start",
  promise: "What the API of a new node answered is there after a power loss on its first boot",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, set("one")],
    [40 * SECOND, { do: "reboot", downMs: 10 * SECOND, loses: "all" }],
  ],
  watch(world, broken) {
    return () => {
      if (valueOf(world) !== "one") broken(`the map has ${valueOf(world)}`);
    };
  },
};

const removedBeforePowerLoss: Race = {
  name: "removed-before-power-loss",
  promise: "An object that was removed stays away, though the log was begun anew and a power loss brings its file back",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, set("one")],
    [40 * SECOND, { do: "map-removed", name: "map-0" }],
    [60 * SECOND, { do: "restart", downMs: 0 }],
    [70 * SECOND, { do: "reboot", downMs: 10 * SECOND, loses: "all" }],
  ],
  watch(world, broken) {
    const seen = changesOf(world);
    return () => {
      if (!seen.some(({ type, atMs }) => type === "DELETED" && atMs < 60 * SECOND))
        broken("the race did not come about");
      if (valueOf(world) !== undefined) broken(`the map is back with ${valueOf(world)}`);
    };
  },
};

const editedWhileDown: Race = {
  name: "edited-while-down",
  promise: "A file that is edited while no kubelet runs is a new version, which no renewal of a lease had before",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, set("one")],
    [100 * SECOND, { do: "kill", downMs: 20 * SECOND }],
    [110 * SECOND, { do: "file-edited", name: "map-0", how: "renamed", what: "value", value: "by-hand" }],
  ],
  watch(world, broken) {
    return () => {
      if (valueOf(world) !== "by-hand") broken(`the map has ${valueOf(world)}`);
    };
  },
};

const changedWhileEdited: Race = {
  name: "changed-while-edited",
  promise: "A file that was edited or removed is not written over, though its object changes before the edit is seen",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, set("one")],
    [40 * SECOND, { do: "file-edited", name: "map-0", how: "in-place", what: "value", value: "by-hand" }],
    [40 * SECOND + 50, set("two")],
    [50 * SECOND, { do: "map-set", name: "map-1", value: "one" }],
    [60 * SECOND, { do: "file-edited", name: "map-1", how: "in-place", what: "removal", value: "" }],
    [60 * SECOND + 50, { do: "map-set", name: "map-1", value: "two" }],
  ],
  watch(world, broken) {
    const seen = changesOf(world);
    return () => {
      for (const from of [40 * SECOND, 60 * SECOND])
        if (!seen.some(({ atMs }) => atMs > from && atMs < from + 300)) broken("the race did not come about");
      if (valueOf(world) !== "by-hand") broken(`the map has ${valueOf(world)}`);
      if (world.api.store.get("configmaps", "default", "map-1") !== undefined) broken("the removed map is there");
    };
  },
};

const lineWithoutFile: Race = {
  name: "line-without-file",
  promise: "A change that was answered is there after a power loss before its file was written",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, set("one")],
    [40 * SECOND, { do: "disk", kind: "slow", share: 1, ms: 5000, below: `${OBJECTS}/configmaps` }],
    [41 * SECOND, set("two")],
    [41 * SECOND + 100, { do: "reboot", downMs: 10 * SECOND }],
  ],
  watch(world, broken) {
    const seen = changesOf(world);
    return () => {
      if (!seen.some(({ atMs }) => atMs > 41 * SECOND && atMs < 41 * SECOND + 100))
        broken("the race did not come about");
      if (valueOf(world) !== "two") broken(`the map has ${valueOf(world)}`);
    };
  },
};

const killedWhileBegunAnew: Race = {
  name: "killed-while-begun-anew",
  promise: "Objects and versions stay when the kubelet is killed while its stop begins the log anew",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, set("one")],
    [21 * SECOND, { do: "map-set", name: "map-1", value: "one" }],
    [40 * SECOND, { do: "map-removed", name: "map-1" }],
    [50 * SECOND, { do: "disk", kind: "slow", share: 1, ms: 20 * SECOND, below: `${STORE}/.tmp-changes.log` }],
    [51 * SECOND, { do: "restart", downMs: 0 }],
    [53 * SECOND, { do: "kill", downMs: 0 }],
    [100 * SECOND, { do: "restart", downMs: 0 }],
    [102 * SECOND, { do: "reboot", downMs: 10 * SECOND, loses: "all" }],
  ],
  watch(world, broken) {
    let starts = 0;
    world.own?.api.onOpen.add(() => void starts++);
    return () => {
      if (starts < 3) broken("the race did not come about");
      if (valueOf(world) !== "one") broken(`the map has ${valueOf(world)}`);
    };
  },
};

const editedOnAFailingDisk: Race = {
  name: "edited-on-a-failing-disk",
  promise: "An edit that the disk does not give counts as soon as it does, though no event of the file comes then",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, set("one")],
    [40 * SECOND, { do: "file-edited", name: "map-0", how: "renamed", what: "value", value: "by-hand" }],
    [40 * SECOND + 100, { do: "disk", kind: "EIO", share: 1, ms: 5000, below: `${OBJECTS}/configmaps` }],
  ],
  watch(world, broken) {
    let refused = 0;
    world.onLog.add(({ msg }) => {
      if (msg.startsWith("the file of an object was not read")) refused++;
    });
    return () => {
      if (refused !== 1) broken(`the race did not come about, or the log has ${refused} lines of it`);
      if (valueOf(world) !== "by-hand") broken(`the map has ${valueOf(world)}`);
    };
  },
};

export const OWN_API_RACES: readonly Race[] = [
  powerLossAfterFirstStart,
  removedBeforePowerLoss,
  editedWhileDown,
  changedWhileEdited,
  lineWithoutFile,
  killedWhileBegunAnew,
  editedOnAFailingDisk,
];
