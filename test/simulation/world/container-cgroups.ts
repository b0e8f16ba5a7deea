// What the runtime does in the cgroup tree: each running sandbox and container has a cgroup in that of its pod, and its
// processes end with the kill of a cgroup.
// Invariant: as runc, the runtime makes the cgroups above it where they are missing, and removes only its own.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { enterCgroup, leaveCgroup, onCgroupKill } from "../disk/cgroup-inodes.js";
import { disk } from "../disk/machine-disk.js";
import { CGROUP_ROOT } from "./machine-files.js";
import type { SimulatedRuntime } from "./runtime.js";

const { tree } = disk;

export class ContainerCgroups {
  /** Hears of each container or sandbox whose cgroup is killed, before it ends. */
  readonly onKill = new Set<(id: string) => void>();
  private readonly places = new Map<string, string>();

  constructor(private readonly runtime: SimulatedRuntime) {
    const { CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT } = ContainerEventType;
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType === CONTAINER_STARTED_EVENT) this.started(containerId);
      if (containerEventType === CONTAINER_STOPPED_EVENT || containerEventType === CONTAINER_DELETED_EVENT) {
        this.ended(containerId);
      }
    });
    onCgroupKill((id) => this.kill(id));
  }

  private started(id: string): void {
    const { containers, sandboxes } = this.runtime.state;
    const sandbox = sandboxes.get(containers.get(id)?.sandboxId ?? id);
    const parent = sandbox?.config.linux?.cgroupParent ?? "";
    if (parent === "") return;
    const place = `${CGROUP_ROOT}${parent}/${id}`;
    let at = CGROUP_ROOT;
    for (const part of `${parent}/${id}`.split("/").filter((one) => one !== "")) {
      at += `/${part}`;
      if (!tree.exists(at)) tree.makeDirectory(at, 0o755);
    }
    this.places.set(id, place);
    enterCgroup(tree.lookUp(place, "open"), id);
  }

  private ended(id: string): void {
    const place = this.places.get(id);
    if (place === undefined) return;
    this.places.delete(id);
    if (!tree.exists(place)) return;
    leaveCgroup(tree.lookUp(place, "open"), id);
    tree.removeDirectory(place);
  }

  private kill(id: string): void {
    for (const listener of this.onKill) listener(id);
    const { state } = this.runtime;
    const container = state.containers.get(id);
    const sandbox = state.sandboxes.get(id);
    if (container !== undefined) state.end(container, 137);
    else if (sandbox !== undefined) state.endSandbox(sandbox);
    // The runtime has lost it: its processes ran on.
    else this.ended(id);
  }
}
