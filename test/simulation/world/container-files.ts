// What containers see of the volumes that are mounted into them: the folders as they were at the container's start.
// A folder that is mounted over later, or made anew, is another one for the kubelet and the old one for the container.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { Inode } from "../disk/inode.js";
import { disk } from "../disk/machine-disk.js";
import type { SimulatedRuntime } from "./runtime.js";

const DATA = "..data";

export class ContainerFiles {
  /** By container, and by the name of the mounted volume. */
  private readonly roots = new Map<string, ReadonlyMap<string, Inode>>();

  constructor(runtime: SimulatedRuntime) {
    runtime.state.eventListeners.add(({ containerId, containerEventType: type }) => {
      if (type === ContainerEventType.CONTAINER_DELETED_EVENT) this.roots.delete(containerId);
      if (type !== ContainerEventType.CONTAINER_STARTED_EVENT) return;
      const mounts = runtime.state.containers.get(containerId)?.config.mounts ?? [];
      const found = mounts.flatMap(({ hostPath }): (readonly [string, Inode])[] => {
        const name = /\/volumes\/[^/]+\/([^/]+)$/.exec(hostPath)?.[1];
        return name !== undefined && disk.tree.exists(hostPath) ? [[name, disk.tree.lookUp(hostPath, "open")]] : [];
      });
      this.roots.set(containerId, new Map(found));
    });
  }

  /**
   * Text of each file of a volume that the kubelet replaces in one step, by its path; undefined: the container has no
   * such volume, or nothing is in it.
   */
  read(containerId: string, volume: string): Map<string, string> | undefined {
    const root = this.roots.get(containerId)?.get(volume);
    const target = root?.entries.get(DATA)?.target ?? "";
    const data = root?.entries.get(target);
    if (data === undefined) return undefined;
    const files = new Map<string, string>();
    collect(data, "", files);
    return files;
  }

  /** Names in the volume's folder, without those of the kubelet. */
  names(containerId: string, volume: string): string[] {
    const root = this.roots.get(containerId)?.get(volume);
    return [...(root?.entries.keys() ?? [])].filter((name) => !name.startsWith(".."));
  }
}

function collect(folder: Inode, below: string, files: Map<string, string>): void {
  for (const [name, inode] of folder.entries) {
    if (inode.kind === "directory") collect(inode, `${below}${name}/`, files);
    else files.set(`${below}${name}`, inode.data.toString("utf8"));
  }
}
