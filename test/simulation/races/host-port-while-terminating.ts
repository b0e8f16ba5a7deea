// The kubelet starts anew while a pod with a host port terminates, and another pod wants the port. Seed 3720003 found
// it.

import { PLAIN_NODE } from "../world/node-shape.js";
import { objectsOf, podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const container = { ports: [{ containerPort: 8000, hostPort: 30_080, protocol: "TCP", hostIP: "" }] };

export const hostPortWhileTerminating: Race = {
  name: "host-port-while-terminating",
  promise: "A terminating pod keeps its host port over a restart of the kubelet",
  issue: "docs/simulation.md",
  node: { ...PLAIN_NODE, hasHostPorts: true },
  events: [
    [
      20 * SECOND,
      { do: "create", shape: podOf({ name: "goes", script: { stopsMs: Infinity }, container, graceSeconds: 60 }) },
    ],
    [40 * SECOND, { do: "delete", name: "goes", graceSeconds: 60 }],
    [50 * SECOND, { do: "kill", downMs: 0 }],
    [65 * SECOND, { do: "create", shape: podOf({ name: "comes", container }) }],
  ],
  watch(world, broken) {
    const seen = objectsOf(world, "comes");
    return () => {
      if (seen.at(-1)?.phase !== "Failed") broken("the second pod was admitted", "comes");
    };
  },
};
