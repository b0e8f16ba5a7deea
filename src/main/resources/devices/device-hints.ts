// On which NUMA nodes could so many devices be had? Pure.
import type { TopologyHint } from "../managers/port.js";
import type { Devices } from "./plugin-port.js";

export interface HintInput {
  devices: Devices;
  /** Nodes of the machine. */
  numaNodes: readonly number[];
  /** Could be handed out now. */
  available: ReadonlySet<string>;
  /** Devices of the pod's init containers: a place must be near all of them. */
  reusable: ReadonlySet<string>;
  /** The number of devices. */
  request: number;
}

/** True if the plugin reports the NUMA nodes of at least one device. */
export function hasTopology(devices: Devices): boolean {
  return [...devices.values()].some(({ nodes }) => nodes.length > 0);
}

/** All sets of nodes that could serve the request; preferred are the smallest that all devices together could serve it on. */
export function deviceHints({ devices, numaNodes, available, reusable, request }: HintInput): TopologyHint[] {
  const candidates = nodesWithDevices(devices, numaNodes);
  let smallest = candidates.length;
  const served: number[][] = [];
  for (const nodes of subsets(candidates)) {
    const isNear = (id: string): boolean => (devices.get(id)?.nodes ?? []).some((node) => nodes.includes(node));
    if ([...devices.keys()].filter(isNear).length >= request) smallest = Math.min(smallest, nodes.length);
    const reused = [...reusable].filter((id) => (devices.get(id)?.nodes.length ?? 0) > 0);
    if (!reused.every(isNear)) continue;
    if (reused.length + [...available].filter(isNear).length >= request) served.push(nodes);
  }
  return served.map((nodes) => ({ nodes, preferred: nodes.length === smallest }));
}

/** Nodes without devices would only multiply the sets. */
function nodesWithDevices(devices: Devices, numaNodes: readonly number[]): number[] {
  const near = new Set([...devices.values()].flatMap(({ nodes }) => nodes));
  const known = numaNodes.filter((node) => near.has(node));
  return [...(known.length > 0 ? known : numaNodes)].sort((a, b) => a - b);
}

/** All but the empty one, small ones first. */
function subsets(nodes: readonly number[]): number[][] {
  const all = nodes.reduce<number[][]>((sets, node) => [...sets, ...sets.map((set) => [...set, node])], [[]]);
  return all.filter((set) => set.length > 0).sort((a, b) => a.length - b.length);
}
