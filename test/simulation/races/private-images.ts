// The kubelet is killed while an image is pulled with a secret, before it records which pods may use it.

import { PLAIN_NODE } from "../world/node-shape.js";
import { PULL_SECRET, SECRET_IMAGE } from "../world/registry.js";
import { callsOf, podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const container = { image: SECRET_IMAGE, imagePullPolicy: "IfNotPresent" };
const spec = { imagePullSecrets: [{ name: PULL_SECRET }] };

export const killedWhilePulling: Race = {
  name: "killed-while-pulling",
  promise: "A pod without credentials does not run with an image whose pull the kubelet did not survive",
  issue: "docs/simulation.md",
  node: { ...PLAIN_NODE, hasPrivateImages: true },
  events: [
    [10 * SECOND, { do: "aim", verb: "PullImage", fault: { do: "kill", downMs: 30 * SECOND } }],
    [20 * SECOND, { do: "create", shape: podOf({ name: "knows", container, spec }) }],
    [30 * SECOND, { do: "delete-by-force", name: "knows" }],
    [70 * SECOND, { do: "create", shape: podOf({ name: "does-not", container, isSteady: false }) }],
  ],
  watch(world, broken) {
    const calls = callsOf(world, "knows");
    return () => {
      if (world.runtime.state.image(SECRET_IMAGE) === undefined || calls.some(({ verb }) => verb === "StartContainer"))
        broken("the race did not come about", "does-not");
    };
  },
};

export const powerLossAfterPull: Race = {
  name: "power-loss-after-pull",
  promise: "A pod without credentials does not run with an image that another pod pulled before a power loss",
  issue: "docs/simulation.md",
  node: { ...PLAIN_NODE, hasPrivateImages: true },
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "knows", container, spec }) }],
    [60 * SECOND, { do: "reboot", downMs: 30 * SECOND, loses: "all" }],
    [100 * SECOND, { do: "create", shape: podOf({ name: "does-not", container, isSteady: false }) }],
  ],
  watch(world, broken) {
    const calls = callsOf(world, "knows");
    return () => {
      const starts = calls.filter(({ verb }) => verb === "StartContainer").map(({ atMs }) => atMs);
      if (!starts.some((atMs) => atMs < 60 * SECOND)) broken("the race did not come about", "does-not");
    };
  },
};
