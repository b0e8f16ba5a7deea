// Objects of a pod change, or are made anew, while no kubelet runs: the next kubelet knows the files of the one before
// only from the disk. And a pod goes, but its objects stay: nothing needs to be known of them then.

import { kernel } from "../kernel/kernel.js";
import { configOf } from "../plan/own-configs.js";
import { PLAIN_NODE, withConfigs } from "../world/node-shape.js";
import { callsOf, podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const pod = configOf(podOf({ name: "reader" }), [
  { as: "config-0", kind: "configmaps", name: "settings", isOptional: false },
  { as: "config-1", kind: "secrets", name: "key", isOptional: true },
]);

export const configChangesWhileDown: Race = {
  name: "config-changes-while-down",
  promise: "A running container sees what its ConfigMap and Secret became while no kubelet ran",
  issue: "docs/adr/0026-objects-of-pods.md",
  node: withConfigs(PLAIN_NODE, "Watch"),
  events: [
    [10 * SECOND, { do: "create", shape: pod }],
    [60 * SECOND, { do: "kill", downMs: 60 * SECOND }],
    [70 * SECOND, { do: "config-changes", kind: "configmaps", name: "settings" }],
    [80 * SECOND, { do: "config-removed", kind: "secrets", name: "key", ms: 20 * SECOND }],
  ],
  watch(world, broken) {
    const calls = callsOf(world, "reader");
    return () => {
      const starts = calls.filter(({ verb }) => verb === "StartContainer");
      if (starts.length !== 1 || (starts[0]?.atMs ?? 0) > 60 * SECOND) broken("the race did not come about", "reader");
    };
  },
};

export const objectsOutliveTheirPod: Race = {
  name: "objects-outlive-their-pod",
  promise: "The watches of a pod's ConfigMap and Secret end after the pod",
  issue: "docs/adr/0026-objects-of-pods.md",
  node: withConfigs(PLAIN_NODE, "Watch"),
  events: [
    [10 * SECOND, { do: "create", shape: pod }],
    [60 * SECOND, { do: "delete", name: "reader", graceSeconds: 1 }],
  ],
  watch({ api, cluster }, broken) {
    let most = 0;
    api.onPod(({ type }) => {
      if (type !== "DELETED") most = Math.max(most, cluster.watches.of("configmaps").length);
    });
    // Before the server ends them by their time: it allows a node no watch of an object that no pod has.
    kernel.after(kernel.world, 200 * SECOND, () => {
      const left = [...cluster.watches.of("configmaps"), ...cluster.watches.of("secrets")];
      if (left.length > 0) broken(`${left.length} objects of the removed pod are watched`, "reader");
    });
    return () => {
      if (most === 0) broken("the race did not come about", "reader");
    };
  },
};
