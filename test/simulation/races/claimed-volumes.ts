// Claims of a CSI driver: a size that it refuses while the volume is in use, and a volume for one pod at a time.

import { STATUS } from "../../../src/shared/kubernetes/plugins/call-error.js";
import type { PodShape } from "../plan/pod-shapes.js";
import { CLAIMS, LONE_CLAIM, volumeOf } from "../world/csi-plugin.js";
import { PLAIN_NODE } from "../world/node-shape.js";
import { objectsOf, podOf, runsOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const [FIRST_CLAIM = ""] = CLAIMS;

function withClaim(name: string, claim: string): PodShape {
  const shape = podOf({
    name,
    container: { volumeMounts: [{ name: "data", mountPath: "/data" }] },
    spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName: claim } }] },
    isSteady: false,
  });
  return { ...shape, claim };
}

export const refusedWhileInUse: Race = {
  name: "refused-while-in-use",
  promise: "A size that the driver refuses as the volume is in use is asked for again when it is staged anew",
  issue: HERE,
  node: { ...PLAIN_NODE, hasCsi: true, expands: true },
  events: [
    [20 * SECOND, { do: "create", shape: withClaim("first", FIRST_CLAIM) }],
    [
      60 * SECOND,
      {
        do: "claim-grows",
        claim: FIRST_CLAIM,
        gibibytes: 1,
        refusal: STATUS.FAILED_PRECONDITION,
        refusedMs: 100 * SECOND,
      },
    ],
    // The volume keeps its size though the driver takes the new one by then.
    [240 * SECOND, { do: "delete", name: "first", graceSeconds: undefined }],
    [270 * SECOND, { do: "create", shape: withClaim("second", FIRST_CLAIM) }],
  ],
  watch({ csi }, broken) {
    let refused = 0;
    csi?.onRefuse.add(() => void refused++);
    return () => {
      if (refused !== 1) broken(`the driver refused ${refused} times`);
      const bytes = csi?.sizes.get(volumeOf(FIRST_CLAIM));
      if (bytes !== 2n * 1024n ** 3n) broken(`the volume has ${bytes} bytes`);
    };
  },
};

export const volumeForOnePod: Race = {
  name: "volume-for-one-pod",
  promise: "A pod waits for a ReadWriteOncePod volume until the one before has ended, over a restart of the kubelet",
  issue: HERE,
  node: { ...PLAIN_NODE, hasCsi: true, hasLoneVolume: true },
  events: [
    [20 * SECOND, { do: "create", shape: withClaim("first", LONE_CLAIM) }],
    [40 * SECOND, { do: "create", shape: withClaim("second", LONE_CLAIM) }],
    [80 * SECOND, { do: "kill", downMs: SECOND }],
    [120 * SECOND, { do: "delete", name: "first", graceSeconds: undefined }],
  ],
  watch(world, broken) {
    const second = objectsOf(world, "second");
    const runs = runsOf(world, "second");
    return () => {
      if (second.at(-1)?.isReady !== true) broken("the pod does not run after the one before", "second");
      if (runs.some(({ atMs }) => atMs < 120 * SECOND)) broken("the pod runs beside the one before", "second");
    };
  },
};
