// A driver takes long to unpublish and to unstage a volume whose last pod has ended.

import { kernel } from "../kernel/kernel.js";
import { CLAIMS, volumeOf } from "../world/csi-plugin.js";
import { PLAIN_NODE } from "../world/node-shape.js";
import { podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const [claim = ""] = CLAIMS;
/** Longer than a controller takes to detach. */
const LATE_MS = 40 * SECOND;

export const detachedWhileUnstaged: Race = {
  name: "detached-while-unstaged",
  promise: "A volume is in use until it is unstaged, so that it is not detached before",
  issue: "docs/simulation.md",
  node: { ...PLAIN_NODE, hasCsi: true, attaches: true },
  events: [
    [
      20 * SECOND,
      {
        do: "create",
        shape: {
          ...podOf({
            name: "goes",
            container: { volumeMounts: [{ name: "data", mountPath: "/data" }] },
            spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName: claim } }] },
          }),
          claim,
        },
      },
    ],
    [120 * SECOND, { do: "csi-slow", lateMs: LATE_MS, ms: 200 * SECOND }],
    [121 * SECOND, { do: "delete", name: "goes", graceSeconds: undefined }],
  ],
  watch(world, broken) {
    let unpublishedAt = Infinity;
    let detachedAt = 0;
    world.csi?.onUnpublish.add(() => (unpublishedAt = kernel.monotonic));
    world.attachments?.onDetach.add(() => (detachedAt = kernel.monotonic));
    return () => {
      if (detachedAt - unpublishedAt < LATE_MS) broken(`the race did not come about: ${volumeOf(claim)}`, "goes");
    };
  },
};
