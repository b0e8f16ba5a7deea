// A device that a container has is no other running container's. The container keeps its devices until its pod has
// ended, over restarts of the container, of the plugin and of the kubelet.

import { ContainerEventType, ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { VARIABLE } from "../world/device-plugin.js";
import { podNameOf } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

interface Holder {
  pod: string;
  /** Pod UID and container name. */
  key: string;
  name: string;
  devices: string[];
}

export const devicesAreGivenOnce: Invariant = {
  name: "devices are given once",
  promisedBy: "docs/adr/0032-devices.md",
  watch(world, broken) {
    const { plugin, runtime } = world;
    if (plugin === undefined) return undefined;
    /** Devices of containers that have run, by pod UID and container name. */
    let had = new Map<string, Holder>();
    world.onFault.add((kind) => {
      // Nothing runs on: pods that are admitted again may get other devices.
      if (kind === "reboot") had = new Map();
    });
    const check = (): void => {
      const owners = new Map<string, Holder>();
      for (const holder of deviceHolders(world)) {
        checkCount(world, holder, broken);
        for (const device of holder.devices) {
          const other = owners.get(device);
          owners.set(device, holder);
          if (other === undefined) continue;
          broken(`${device} belongs to ${holder.name}, and to ${other.name} of ${other.pod}`, holder.pod);
        }
        const before = had.get(holder.key)?.devices.join();
        had.set(holder.key, holder);
        const now = holder.devices.join();
        if (before !== undefined && before !== "" && before !== now)
          broken(`${holder.name} had ${before}, and has ${now}`, holder.pod);
      }
    };
    runtime.state.eventListeners.add(({ containerEventType }) => {
      if (containerEventType === ContainerEventType.CONTAINER_STARTED_EVENT) check();
    });
    return () => {
      for (const [key, { pod }] of had) if (!world.facts.pods.has(pod)) had.delete(key);
    };
  },
};

/** Running containers, with their devices. */
export function deviceHolders({ runtime }: World): Holder[] {
  return [...runtime.state.containers.values()]
    .filter(({ status }) => status.state === ContainerState.CONTAINER_RUNNING)
    .map(({ config }) => {
      const name = config.metadata?.name ?? "";
      const value = config.envs.find(({ key }) => key === VARIABLE)?.value;
      const list = value === undefined ? "" : Buffer.from(value).toString();
      const devices = list === "" ? [] : list.split(",");
      return { pod: podNameOf(config.labels), key: `${config.labels["io.kubernetes.pod.uid"]}/${name}`, name, devices };
    });
}

/** A pod that came before the plugin's first registration runs without devices, as upstream's. */
function checkCount({ facts, plugin }: World, { pod, name, devices }: Holder, broken: Broken): void {
  const known = facts.pods.get(pod);
  const asked = known?.shape.devices?.[name] ?? 0;
  if (known === undefined || devices.length === asked) return;
  if (devices.length === 0 && known.createdAt < (plugin?.firstListAt ?? Infinity)) return;
  broken(`${name} asked for ${asked} devices and has "${devices.join()}"`, pod);
}
