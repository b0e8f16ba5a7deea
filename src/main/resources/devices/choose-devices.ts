// Which devices a container gets: those its pod's init containers had, then those near the chosen NUMA nodes, then any;
// within a group those the plugin prefers. Pure but for asking the plugin.
// Invariant: no device twice, none that is unavailable, exactly the requested number.
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

/** undefined: the plugin has no preference. */
export type AskPreference = (request: PreferenceRequest) => Promise<readonly string[] | undefined>;

/** @throws DevicePluginError when there are not enough; or the plugin's error */
export async function chooseDevices(input: ChoiceInput, ask: AskPreference): Promise<string[]> {
  const { resource, required } = input;
  const chosen = input.reusable.slice(0, required);
  const needed = required - chosen.length;
  if (needed === 0) return chosen;
  const available = input.available.filter((id) => !chosen.includes(id));
  if (available.length < needed) {
    throw new DevicePluginError(
      `requested number of devices unavailable for ${resource}. Requested: ${needed}, Available: ${available.length}`,
    );
  }
  const { near, far, anywhere } = byAffinity(available, input);
  if (needed < near.length) {
    const preferred = await ask({ available: [...near, ...chosen], mustInclude: chosen, size: required });
    return take(chosen, required, preferred, near);
  }
  const withNear = [...chosen, ...near];
  if (withNear.length === required) return withNear;
  const preferred = await ask({ available: [...available, ...chosen], mustInclude: withNear, size: required });
  return take(withNear, required, preferred, [...far, ...anywhere]);
}

/** The devices chosen before, then the plugin's preference in `from`, then the rest of `from` in its order. */
function take(
  chosen: readonly string[],
  required: number,
  preferred: readonly string[] | undefined,
  from: readonly string[],
): string[] {
  const preference = (preferred ?? []).filter((id) => from.includes(id));
  return [...new Set([...chosen, ...preference, ...from])].slice(0, required);
}

interface Groups {
  near: string[];
  /** Near other nodes. */
  far: string[];
  /** Of no node. */
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
