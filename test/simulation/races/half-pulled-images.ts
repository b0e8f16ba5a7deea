// A pull is cut in its middle, and leaves layers with the runtime.

import { LAYERED_IMAGES, withPullLimit, type PullCut } from "../world/image-layers.js";
import { PLAIN_NODE } from "../world/node-shape.js";
import type { World } from "../world/world.js";
import { callsOf, podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const [image = ""] = LAYERED_IMAGES;
const container = { image, imagePullPolicy: "IfNotPresent" };

function cutBy(name: string, promise: string, fault: PullCut["fault"]): Race {
  return {
    name,
    promise,
    issue: HERE,
    node: withPullLimit(PLAIN_NODE, "one"),
    events: [
      [10 * SECOND, { do: "pull-cut", fault }],
      [20 * SECOND, { do: "create", shape: podOf({ name: "one", container }) }],
      [21 * SECOND, { do: "create", shape: podOf({ name: "other", container }) }],
    ],
    watch: (world, broken) => {
      const pulls = pullsOf(world);
      const starts = ["one", "other"].map((name) => callsOf(world, name));
      return () => {
        if (pulls.length < 2) broken("the race did not come about", "one");
        if (pulls.at(-1) !== "OK") broken(`the pulls ended with ${pulls.join(" ")}`, "one");
        for (const calls of starts)
          if (!calls.some(({ verb }) => verb === "StartContainer")) broken("a pod does not run", "one");
      };
    },
  };
}

/** Codes of the pulls; "": it has no end. */
function pullsOf({ runtime }: World): string[] {
  const codes: string[] = [];
  runtime.watchers.add((verb) => void (verb === "PullImage" && codes.push("")));
  runtime.onEnd.add((verb, code) => void (verb === "PullImage" && (codes[codes.length - 1] = code)));
  return codes;
}

const deletedWhileOthersWait: Race = {
  name: "deleted-while-others-wait",
  promise:
    "A pod that is deleted while its image is pulled gives its turn back, and the image is pulled for the next one",
  issue: HERE,
  node: withPullLimit(PLAIN_NODE, "one"),
  events: [
    [80 * SECOND, { do: "create", shape: podOf({ name: "one", container }) }],
    [80 * SECOND + 500, { do: "create", shape: podOf({ name: "other", container }) }],
    [80 * SECOND + 700, { do: "create", shape: podOf({ name: "third", container }) }],
    [80 * SECOND + 900, { do: "delete", name: "one", graceSeconds: undefined }],
  ],
  watch(world, broken) {
    const pulls = pullsOf(world);
    const others = ["other", "third"].map((name) => callsOf(world, name));
    return () => {
      if (pulls.length < 2) broken("the race did not come about", "one");
      if (pulls.filter((code) => code === "OK").length !== 1) broken(`pulls ended with ${pulls.join(" ")}`, "other");
      for (const calls of others)
        if (!calls.some(({ verb }) => verb === "StartContainer")) broken("a pod that waited does not run", "other");
    };
  },
};

export const HALF_PULLED_RACES: readonly Race[] = [
  cutBy("cut-by-the-runtime", "A pull that a restart of the runtime has cut is repeated, and both pods run", {
    do: "runtime-restart",
    ms: 5000,
  }),
  cutBy("cut-by-a-kill", "A pull that a kill of the kubelet has cut is repeated, and both pods run", {
    do: "kill",
    downMs: 1000,
  }),
  cutBy("cut-by-a-power-loss", "A pull that a power loss has cut is repeated, and both pods run", {
    do: "reboot",
    downMs: 10 * SECOND,
  }),
  deletedWhileOthersWait,
];
