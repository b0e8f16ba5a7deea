// A runtime that finds no room on a full disk: a container, a sandbox and an image that must be made just then.

import { ContainerState, PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { PLAIN_NODE, withShortDisks } from "../world/node-shape.js";
import { podNameOf } from "../world/pod-facts.js";
import { NO_ROOM } from "../world/runtime-room.js";
import { IMAGES } from "../world/runtime.js";
import type { World } from "../world/world.js";
import { podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const single = { ...withShortDisks(PLAIN_NODE, "single"), fillsUp: true, runtimeNeedsRoom: true } as const;
const split = { ...withShortDisks(PLAIN_NODE, "split"), fillsUp: true, runtimeNeedsRoom: true } as const;
const FULL = 120 * SECOND;
/** So long that no other fault was near at the end of it. */
const FULL_MS = 100 * SECOND;
/** A pod that is not evicted. */
const lasting = podOf({ name: "lasting", static: {}, isSteady: false });

const full = (place: "nodefs" | "imagefs") =>
  ({ do: "disk-full", place, what: "bytes", refills: true, ms: FULL_MS }) as const;

/** Calls of the verb that found no room. */
function refusedOf({ runtime }: World, refused: string): () => number {
  let count = 0;
  runtime.onEnd.add((verb, code, _, details) => {
    if (verb === refused && code !== "OK" && details.includes(NO_ROOM)) count++;
  });
  return () => count;
}

/** Whether a container of the pod of that name runs. */
function isRunning({ runtime }: World, name: string): boolean {
  return [...runtime.state.containers.values()].some(
    ({ config, status }) => podNameOf(config.labels) === name && status.state === ContainerState.CONTAINER_RUNNING,
  );
}

export const containerWithoutRoom: Race = {
  name: "container-without-room",
  promise: "A container that cannot be made on a full disk says so, and runs when there is room again",
  issue: HERE,
  node: single,
  events: [
    [20 * SECOND, { do: "create", shape: lasting }],
    [FULL, full("nodefs")],
    [FULL + 5 * SECOND, { do: "container-dies", pick: 0 }],
  ],
  watch(world, broken) {
    const refused = refusedOf(world, "CreateContainer");
    return () => {
      if (refused() === 0) broken("the race did not come about");
      if (!isRunning(world, "lasting")) broken("the container does not run", "lasting");
    };
  },
};

export const sandboxWithoutRoom: Race = {
  name: "sandbox-without-room",
  promise: "A sandbox that cannot be made on a full disk is made when there is room, and none that failed is left",
  issue: HERE,
  node: single,
  events: [
    [20 * SECOND, { do: "create", shape: lasting }],
    [FULL, full("nodefs")],
    [FULL + 5 * SECOND, { do: "sandbox-dies", pick: 0 }],
  ],
  watch(world, broken) {
    const refused = refusedOf(world, "RunPodSandbox");
    return () => {
      if (refused() === 0) broken("the race did not come about");
      if (!isRunning(world, "lasting")) broken("the container does not run", "lasting");
      const failed = [...world.runtime.state.sandboxes.values()].filter(
        ({ status, containers }) => status.state === PodSandboxState.SANDBOX_NOTREADY && containers.size === 0,
      );
      if (failed.length > 0) broken(`${failed.length} sandboxes that failed are left`, "lasting");
    };
  },
};

export const imageWithoutRoom: Race = {
  name: "image-without-room",
  promise: "A pod whose image finds no room on the disk of the images says so, and runs when there is room again",
  issue: HERE,
  node: split,
  events: [
    [FULL, full("imagefs")],
    [FULL + 5 * SECOND, { do: "create", shape: { ...lasting, spec: withImage(lasting.spec, IMAGES[1] ?? "") } }],
  ],
  watch(world, broken) {
    const refused = refusedOf(world, "PullImage");
    let isEarly = false;
    kernel.after(kernel.world, FULL + FULL_MS, () => {
      isEarly = isRunning(world, "lasting");
    });
    return () => {
      if (refused() === 0 || isEarly) broken("the race did not come about");
      if (!isRunning(world, "lasting")) broken("the container does not run", "lasting");
    };
  },
};

function withImage(spec: Record<string, unknown>, image: string): Record<string, unknown> {
  const [first] = spec["containers"] as Record<string, unknown>[];
  return { ...spec, containers: [{ ...first, image }] };
}
