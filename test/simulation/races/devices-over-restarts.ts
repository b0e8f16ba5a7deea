// Restarts of the kubelet between admissions, with the plugin and without: each pod keeps its device.

import { RESOURCE } from "../world/device-plugin.js";
import { NODE_WITH_DEVICES } from "./nodes.js";
import { podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

function withOneDevice(name: string): ReturnType<typeof podOf> {
  const container = { resources: { requests: { [RESOURCE]: "1" }, limits: { [RESOURCE]: "1" } } };
  return { ...podOf({ name, container }), devices: { main: 1 } };
}

export const devicesOverRestarts: Race = {
  name: "devices-over-restarts",
  promise: "A running pod keeps its device over restarts of the kubelet and of the plugin",
  issue: "docs/simulation.md",
  node: NODE_WITH_DEVICES,
  events: [
    [20 * SECOND, { do: "create", shape: withOneDevice("a") }],
    [25 * SECOND, { do: "kill", downMs: 1000 }],
    [40 * SECOND, { do: "create", shape: withOneDevice("b") }],
    [50 * SECOND, { do: "plugin-dies", ms: 30_000 }],
    [55 * SECOND, { do: "kill", downMs: 1000 }],
    [90 * SECOND, { do: "create", shape: withOneDevice("c") }],
    [91 * SECOND, { do: "restart", downMs: 1000 }],
    [120 * SECOND, { do: "create", shape: withOneDevice("d") }],
  ],
  watch: (world, broken) => () => {
    for (const name of ["a", "b", "c", "d"]) {
      const { phase } = (world.api.store.get("pods", "default", name)?.status ?? {}) as { phase?: string };
      if (phase !== "Running") broken(`the pod is ${phase}`, name);
    }
  },
};
