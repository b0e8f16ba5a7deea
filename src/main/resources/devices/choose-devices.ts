// Which devices a container gets: those its pod's init containers had, then those near the chosen NUMA nodes, then any;
// within a group those the plugin prefers. Pure.
// Invariant: no device twice, none that is unavailable, exactly the requested number. The time is linear in the number
// of devices.

import { DevicePluginError, type Devices, type PreferenceRequest } from "./plugin-port.js";

export interface ChoiceInput {
  resource: string;
  /** The number of devices. */
  required: number;
  devices: Devices;
  /** Devices of the pod's init containers that exited by then. */
  reusable: readonly string[];
  /** Healthy, and allocated to no container. */
  available: readonly string[];
  /** NUMA nodes that the devices should be near to; undefined: no preference. */
  affinity: readonly number[] | undefined;
}

export interface DeviceChoice {
  /** What the plugin is asked; undefined: there is nothing to choose. */
  request: PreferenceRequest | undefined;
  /** The devices, with the plugin's preference if it has one. */
  with(preferred: readonly string[] | undefined): string[];
}

/** @throws DevicePluginError when there are not enough */
export function chooseDevices(input: ChoiceInput): DeviceChoice {
  const { resource, required } = input;
  const chosen = input.reusable.slice(0, required);
  const needed = required - chosen.length;
  if (needed === 0) return { request: undefined, with: () => chosen };
  const isChosen = new Set(chosen);
  const available = input.available.filter((id) => !isChosen.has(id));
  if (available.length < needed) {
    throw new DevicePluginError(
      `requested number of devices unavailable for ${resource}. Requested: ${needed}, Available: ${available.length}`,
    );
  }
  const { near, far, anywhere } = byAffinity(available, input);
  if (needed < near.length) {
    return {
      request: { available: [...near, ...chosen], mustInclude: chosen, size: required },
      with: (preferred) => take(chosen, required, preferred, near),
    };
  }
  const withNear = [...chosen, ...near];
  if (withNear.length === required) return { request: undefined, with: () => withNear };
  return {
    request: { available: [...available, ...chosen], mustInclude: withNear, size: required },
    with: (preferred) => take(withNear, required, preferred, [...far, ...anywhere]),
  };
}

/** The devices chosen before, then the plugin's preference in `from`, then the rest of `from` in its order. */
function take(
  chosen: readonly string[],
  required: number,
  preferred: readonly string[] | undefined,
  from: readonly string[],
): string[] {
  const offered = new Set(from);
  const preference = (preferred ?? []).filter((id) => offered.has(id));
  return [...new Set([...chosen, ...preference, ...from])].slice(0, required);
}

interface Groups {
  near: string[];
  /** Near other nodes. */
  far: string[];
  /** Devices without a NUMA node. */
  anywhere: string[];
}

function byAffinity(available: readonly string[], { devices, affinity }: ChoiceInput): Groups {
  const nodesOf = (id: string): readonly number[] => devices.get(id)?.nodes ?? [];
  if (affinity === undefined || ![...devices.values()].some(({ nodes }) => nodes.length > 0)) {
    return { near: [], far: [], anywhere: [...available] };
  }
  const isNear = (id: string): boolean => nodesOf(id).some((node) => affinity.includes(node));
  return {
    near: available.filter(isNear),
    far: available.filter((id) => nodesOf(id).length > 0 && !isNear(id)),
    anywhere: available.filter((id) => nodesOf(id).length === 0),
  };
}
