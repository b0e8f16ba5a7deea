// On which NUMA nodes could so many devices be had? Pure.

import type { TopologyHint } from "../assignment/resource-manager.js";
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

/** Devices that are near the same nodes. There are few such groups, and perhaps tens of thousands of devices. */
interface Group {
  /** NUMA nodes among the candidates that the devices are near. */
  nodes: ReadonlySet<number>;
  all: number;
  available: number;
  reused: number;
}

/** True if the plugin reports the NUMA nodes of at least one device. */
export function hasTopology(devices: Devices): boolean {
  for (const { nodes } of devices.values()) if (nodes.length > 0) return true;
  return false;
}

/**
 * All sets of nodes that could serve the request; preferred are the smallest that all devices together could serve it
 * on.
 */
export function deviceHints(input: HintInput): TopologyHint[] {
  const { devices, numaNodes, request } = input;
  const candidates = nodesWithDevices(devices, numaNodes);
  const groups = groupsOf(input, new Set(candidates));
  let smallest = candidates.length;
  const served: number[][] = [];
  for (const nodes of subsets(candidates)) {
    const near = groups.filter((group) => nodes.some((node) => group.nodes.has(node)));
    const sum = (list: readonly Group[], what: "all" | "available" | "reused"): number =>
      list.reduce((total, group) => total + group[what], 0);
    if (sum(near, "all") >= request) smallest = Math.min(smallest, nodes.length);
    const reused = sum(near, "reused");
    if (reused < sum(groups, "reused")) continue;
    if (reused + sum(near, "available") >= request) served.push(nodes);
  }
  return served.map((nodes) => ({ nodes, preferred: nodes.length === smallest }));
}

/** Reused devices without nodes are near every place: they are in no group. */
function groupsOf({ devices, available, reusable }: HintInput, candidates: ReadonlySet<number>): Group[] {
  const groups = new Map<string, Group>();
  for (const [id, device] of devices) {
    if (device.nodes.length === 0) continue;
    const nodes = new Set(device.nodes.filter((node) => candidates.has(node)));
    const key = [...nodes].sort((a, b) => a - b).join();
    const group = groups.get(key) ?? { nodes, all: 0, available: 0, reused: 0 };
    groups.set(key, group);
    group.all++;
    if (available.has(id)) group.available++;
    if (reusable.has(id)) group.reused++;
  }
  return [...groups.values()];
}

/** Nodes without devices would only multiply the sets. */
function nodesWithDevices(devices: Devices, numaNodes: readonly number[]): number[] {
  const near = new Set<number>();
  for (const { nodes } of devices.values()) for (const node of nodes) near.add(node);
  const known = numaNodes.filter((node) => near.has(node));
  return [...(known.length > 0 ? known : numaNodes)].sort((a, b) => a - b);
}

/** All but the empty one, small ones first. */
function subsets(nodes: readonly number[]): number[][] {
  const all = nodes.reduce<number[][]>((sets, node) => [...sets, ...sets.map((set) => [...set, node])], [[]]);
  return all.filter((set) => set.length > 0).sort((a, b) => a.length - b.length);
}
