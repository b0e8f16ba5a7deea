// Running containers have the CPU that a resize asked for, without a restart, and the status shows it.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { namespaceOf } from "../plan/pod-shapes.js";
import { podNameOf, type PodFacts } from "../world/pod-facts.js";
import { isKeptOut } from "../world/rejections.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

/** https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/: shares of a thousandth of a CPU. */
const SHARES_PER_MILLI = 1.024;

export const resizesArrive: Invariant = {
  name: "resizes reach running containers",
  promisedBy: "ARCHITECTURE.md",
  watch: (world, broken) => () => {
    for (const [name, pod] of world.facts.pods) {
      const { cpuMillis, shape } = pod;
      if (cpuMillis !== undefined && shape.isSteady) check(world, name, { ...pod, cpuMillis }, broken);
    }
  },
};

interface Status {
  phase?: string;
  reason?: string;
  containerStatuses?: { name: string; resources?: { requests?: { cpu?: string } } }[];
}

function check(
  { api, runtime, node, facts }: World,
  name: string,
  { cpuMillis, shape }: PodFacts & { cpuMillis: number },
  broken: Broken,
) {
  const shownStatus = (api.store.get("pods", namespaceOf(shape), name)?.status ?? {}) as Status;
  // It was evicted, or ended for a shutdown, before the resize.
  if (isKeptOut({ node, facts }, { shape }, shownStatus)) return;
  const { containerStatuses = [] } = shownStatus;
  for (const { name: container, resources } of containerStatuses) {
    const shown = resources?.requests?.cpu;
    if (shown !== `${cpuMillis}m`) broken(`the status of ${container} shows ${shown}, not ${cpuMillis}m`, name);
  }
  const shares = BigInt(Math.max(2, Math.floor(cpuMillis * SHARES_PER_MILLI)));
  for (const { config, status } of runtime.state.containers.values()) {
    if (podNameOf(config.labels) !== name || status.state !== ContainerState.CONTAINER_RUNNING) continue;
    const container = config.metadata?.name ?? "";
    const actual = status.resources?.linux?.cpuShares;
    if (!/^c\d$/.test(container) || actual === shares) continue;
    broken(`${container} has ${actual} shares of CPU, not ${shares}`, name);
  }
}
