// After the faults end the node becomes what its sources want, and the API says so.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { namespaceOf } from "../plan/pod-shapes.js";
import { NODE_NAME } from "../world/api.js";
import { podNameOf, type PodFacts } from "../world/pod-facts.js";
import { isKeptOut } from "../world/rejections.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

const OLD_MS = 120_000;

export const converges: Invariant = {
  name: "the node converges after faults",
  promisedBy: "docs/cluster.md",
  watch: (world, broken) => () => {
    for (const [name, pod] of world.facts.pods) {
      if (pod.deletedAt === undefined) checkWanted(world, name, pod, broken);
      else {
        checkRemoved(world, name, pod, broken);
        world.facts.pods.delete(name);
      }
    }
  },
};

function objectOf({ api }: World, name: string, { shape }: PodFacts) {
  return api.store.get("pods", namespaceOf(shape), shape.isStatic ? `${name}-${NODE_NAME}` : name);
}

function checkRemoved(world: World, name: string, pod: PodFacts, broken: Broken): void {
  const left = objectOf(world, name, pod);
  if (left !== undefined)
    broken(`the deleted pod is still in the API: ${JSON.stringify(left.status ?? {}).slice(0, 400)}`, name);
  for (const { config, status } of world.runtime.state.containers.values()) {
    if (podNameOf(config.labels) === name && status.state === ContainerState.CONTAINER_RUNNING) {
      broken(`container ${config.metadata?.name ?? ""} of the deleted pod runs`, name);
    }
  }
}

interface Status {
  phase?: string;
  reason?: string;
  startTime?: string;
  containerStatuses?: { name: string; ready?: boolean; containerID?: string; state?: { running?: object } }[];
}

function checkWanted(world: World, name: string, pod: PodFacts, broken: Broken): void {
  const status = objectOf(world, name, pod)?.status as Status | undefined;
  if (status === undefined) {
    broken("the pod is not in the API", name);
    return;
  }
  if (pod.shape.hasDeadline && status.phase !== "Failed" && status.phase !== "Succeeded" && isOld(status)) {
    broken(`the pod is ${status.phase} though its active deadline is long over`, name);
  }
  if (!pod.shape.isSteady || isKeptOut(world, pod, status) || isWithoutState(world, pod)) return;
  if (status.phase !== "Running") {
    broken(`the pod is ${status.phase}, not Running: ${JSON.stringify(status).slice(0, 600)}`, name);
    return;
  }
  for (const container of status.containerStatuses ?? []) {
    const id = container.containerID?.replace(/^.*:\/\//, "") ?? "";
    const real = world.runtime.state.containers.get(id)?.status.state;
    if (real === ContainerState.CONTAINER_RUNNING && container.state?.running !== undefined && container.ready === true)
      continue;
    broken(
      `${container.name} does not run or the API does not know it: ${JSON.stringify(container).slice(0, 400)}`,
      name,
    );
  }
}

/**
 * The kubelet could not read what devices, CPUs or memory the pod has: containers of it do not start again until it is
 * deleted (docs/adr/0032-devices.md).
 */
function isWithoutState({ facts }: World, { shape: { devices, cpus, memory }, createdAt }: PodFacts): boolean {
  const asks = devices !== undefined || cpus !== undefined || memory !== undefined;
  return asks && facts.lastUnreadableStartAt > createdAt;
}

/** The deadline is a minute, by the wall clock: where that was set back, the pod has its time again, as upstream. */
function isOld({ startTime }: Status): boolean {
  return startTime === undefined || kernel.wall - Date.parse(startTime) > OLD_MS;
}
