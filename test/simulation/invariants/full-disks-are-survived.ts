// A kubelet that cannot write anything to its disk runs on, and starts if it has run there before. Files that
// containers have mounted keep their content.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import type { Action } from "../plan/events.js";
import { ROOT } from "../world/machine-files.js";
import { podNameOf } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

/** The longest fault, and a stall after it. */
const OTHER_MS = 120_000;
const ALLOWED: ReadonlySet<Action["do"]> = new Set(["disk-full", "disk-short", "kill", "restart", "upgrade"]);

export const fullDisksAreSurvived: Invariant = {
  name: "a full disk ends no kubelet, and empties no file of a container",
  promisedBy: "docs/adr/0044-durability-and-fail-closed.md",
  watch(world, broken) {
    const { disks, node, signals } = world;
    if (disks === undefined || signals === undefined || node.fillsUp !== true) return undefined;
    let otherAt = -Infinity;
    let hasStarted = false;
    world.onFault.add((kind) => {
      if (!ALLOWED.has(kind)) otherAt = kernel.monotonic;
      hasStarted ||= world.facts.startedAt !== undefined;
    });
    world.onGaveUp.add((reason) => {
      if (disks.isFull && hasStarted && kernel.monotonic - otherAt > OTHER_MS)
        broken(`the kubelet ends on a full disk: ${reason}`);
    });
    signals.onShortageEnd.add(() => checkHosts(world, broken));
    return undefined;
  },
};

/** The only file of the kubelet that it writes again while containers have it. */
function checkHosts({ runtime: { state } }: World, broken: Broken): void {
  for (const { config, sandboxId, status } of state.containers.values()) {
    if (status.state !== ContainerState.CONTAINER_RUNNING) continue;
    const path = `${ROOT}/pods/${state.sandboxes.get(sandboxId)?.config.metadata?.uid}/etc-hosts`;
    if (disk.tree.exists(path) && disk.tree.lookUp(path, "open").data.length === 0)
      broken(`${config.metadata?.name} runs with an empty ${path}`, podNameOf(config.labels));
  }
}
