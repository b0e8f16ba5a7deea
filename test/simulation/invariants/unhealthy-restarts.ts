// A container whose liveness probe fails does not run on.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { podNameOf } from "../world/pod-facts.js";
import { scriptOf } from "../world/scripts.js";
import type { Invariant } from "./invariant.js";

/** For the failures of the probe and the grace period. */
const LIMIT_MS = 120_000;

export const unhealthyRestarts: Invariant = {
  name: "an unhealthy container is restarted",
  promisedBy: "docs/edge-cases.md",
  watch:
    ({ facts, runtime }, broken) =>
    () => {
      for (const { config, status } of runtime.state.containers.values()) {
        const name = podNameOf(config.labels);
        if (status.state !== ContainerState.CONTAINER_RUNNING || !facts.pods.has(name)) continue;
        const ageMs = kernel.wall - Number(status.startedAt / 1_000_000n);
        if (ageMs < scriptOf(config).healthyMs + LIMIT_MS) continue;
        broken(`${config.metadata?.name ?? ""} has been unhealthy for more than ${LIMIT_MS} ms`, name);
      }
    },
};
