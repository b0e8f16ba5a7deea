// Orders of events around a DRA driver: ends of the kubelet and of the driver while claims are prepared and unprepared.

import { kernel } from "../kernel/kernel.js";
import type { PodShape } from "../plan/pod-shapes.js";
import { TEMPLATE } from "../world/claim-controller.js";
import { ROOT } from "../world/machine-files.js";
import { PLAIN_NODE } from "../world/node-shape.js";
import type { Script } from "../world/scripts.js";
import type { World } from "../world/world.js";
import { objectsOf, podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const node = { ...PLAIN_NODE, hasDra: true } as const;

function withClaim(name: string, script: Partial<Script>, spec: Record<string, unknown> = {}): PodShape {
  const container = { resources: { claims: [{ name: "own" }] } };
  const resourceClaims = [{ name: "own", resourceClaimTemplateName: TEMPLATE }];
  return podOf({ name, script, container, spec: { ...spec, resourceClaims } });
}

/** Moments of the driver's calls of that kind, as they take effect. */
function effectsOf({ dra }: World, verb: string): number[] {
  const moments: number[] = [];
  dra?.driver.onEffect.add((one) => {
    if (one === verb) moments.push(kernel.monotonic);
  });
  return moments;
}

export const killedWhilePrepared: Race = {
  name: "killed-while-prepared",
  promise: "A claim is unprepared though the kubelet was killed before it knew that the claim is prepared",
  issue: HERE,
  node,
  events: [
    [10 * SECOND, { do: "aim", verb: "NodePrepareResources", fault: { do: "kill", downMs: 60 * SECOND } }],
    [20 * SECOND, { do: "create", shape: withClaim("goes", {}) }],
    [50 * SECOND, { do: "delete-by-force", name: "goes" }],
  ],
  watch(world, broken) {
    const prepares = effectsOf(world, "NodePrepareResources");
    return () => {
      if (prepares.length !== 1) broken(`the race did not come about: ${prepares.length} calls`, "goes");
    };
  },
};

export const endsWithoutDriver: Race = {
  name: "ends-without-driver",
  promise: "A pod that completes is shown as ended only after its claim is unprepared, when the driver is back",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: withClaim("job", { runsMs: 60 * SECOND }, { restartPolicy: "Never" }) }],
    [60 * SECOND, { do: "dra-away", ms: 90 * SECOND }],
  ],
  watch(world, broken) {
    const prepares = effectsOf(world, "NodePrepareResources");
    const seen = objectsOf(world, "job");
    return () => {
      const [prepared = Infinity] = prepares;
      const ended = seen.find(({ phase }) => phase === "Succeeded")?.atMs;
      if (prepared > 60 * SECOND) broken("the race did not come about", "job");
      if (ended === undefined) broken("the pod did not end", "job");
      else if (ended < 150 * SECOND) broken("the pod was shown as ended while the driver was away", "job");
    };
  },
};

export const unreadClaims: Race = {
  name: "unread-claims",
  promise: "A claim is unprepared though the disk failed when the kubelet first read its claims",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: withClaim("goes", {}) }],
    [60 * SECOND, { do: "kill", downMs: 20 * SECOND }],
    [65 * SECOND, { do: "delete", name: "goes", graceSeconds: undefined }],
    [70 * SECOND, { do: "disk", kind: "EIO", share: 1, ms: 60 * SECOND, below: `${ROOT}/dra_manager_state` }],
    [90 * SECOND, { do: "create", shape: withClaim("comes", {}) }],
  ],
  watch(world, broken) {
    const prepares = effectsOf(world, "NodePrepareResources");
    return () => {
      if (prepares.length < 2) broken("the race did not come about", "goes");
    };
  },
};

export const slicesOfADriver: Race = {
  name: "slices-of-a-driver",
  promise: "The ResourceSlices of a driver that is away for more than 30 s are deleted, and stay if it is back before",
  issue: HERE,
  node,
  events: [
    [60 * SECOND, { do: "dra-away", ms: 20 * SECOND }],
    [120 * SECOND, { do: "dra-away", ms: 60 * SECOND }],
  ],
  watch(world, broken) {
    const deletions: number[] = [];
    world.api.onChange("resourceslices", ({ type }) => {
      if (type === "DELETED") deletions.push(kernel.monotonic);
    });
    return () => {
      const [deleted = 0, ...others] = deletions;
      if (deleted < 150 * SECOND || deleted > 152 * SECOND || others.length > 0)
        broken(`ResourceSlices were deleted at [${deletions.join()}] ms, not once at 150 s`);
      if (world.api.store.list("resourceslices").length !== 1) broken("the driver is back without a ResourceSlice");
    };
  },
};
