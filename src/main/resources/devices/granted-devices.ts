// The devices of each container, with the plugin's reply to Allocate.
// Invariant: a container keeps its devices until its pod is released, even without its plugin.

import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { ContainerAllocateResponse } from "./plugin-port.js";

/** Stands for no NUMA node, as checkpoints have it. */
const NO_NODE = -1;

export interface Granted {
  /** NUMA node to device IDs; a device near several nodes is under each, one near none under NO_NODE. */
  byNode: ReadonlyMap<number, readonly string[]>;
  response: ContainerAllocateResponse;
}

export interface GrantedEntry extends Granted {
  podUid: PodUid;
  container: string;
  resource: string;
}

type ByResource = Map<string, Granted>;

const NOTHING: ReadonlyMap<string, Granted> = new Map();

export class GrantedDevices {
  /** By pod and container. */
  private readonly pods = new Map<PodUid, Map<string, ByResource>>();

  put({ podUid, container, resource, byNode, response }: GrantedEntry): void {
    const pod = this.pods.get(podUid) ?? new Map<string, ByResource>();
    this.pods.set(podUid, pod);
    const own = pod.get(container) ?? new Map<string, Granted>();
    pod.set(container, own);
    own.set(resource, { byNode, response });
  }

  /** Undoes `put`: the allocation could not be kept. */
  remove(podUid: PodUid, container: string, resource: string): void {
    const pod = this.pods.get(podUid);
    const own = pod?.get(container);
    own?.delete(resource);
    if (own?.size === 0) pod?.delete(container);
    if (pod?.size === 0) this.pods.delete(podUid);
  }

  /** By resource. */
  of(podUid: PodUid, container: string): ReadonlyMap<string, Granted> {
    return this.pods.get(podUid)?.get(container) ?? NOTHING;
  }

  /** undefined: the container has none. */
  ids(podUid: PodUid, container: string, resource: string): ReadonlySet<string> | undefined {
    const granted = this.pods.get(podUid)?.get(container)?.get(resource);
    return granted && idsOf(granted);
  }

  /** Returns the ids of the devices of all the pod's containers. */
  podIds(podUid: PodUid, resource: string): Set<string> {
    const containers = [...(this.pods.get(podUid)?.keys() ?? [])];
    return new Set(containers.flatMap((container) => [...(this.ids(podUid, container, resource) ?? [])]));
  }

  /** Devices that are allocated to any container. */
  taken(resource: string): Set<string> {
    return new Set([...this.pods.keys()].flatMap((podUid) => [...this.podIds(podUid, resource)]));
  }

  /** Resource to how many of it are in use. */
  totals(): Map<string, number> {
    const names = new Set([...this.entries()].map(({ resource }) => resource));
    return new Map([...names].map((name) => [name, this.taken(name).size]));
  }

  isUsed(resource: string): boolean {
    return [...this.entries()].some((entry) => entry.resource === resource);
  }

  has(podUid: PodUid): boolean {
    return this.pods.has(podUid);
  }

  uids(): PodUid[] {
    return [...this.pods.keys()];
  }

  /** Pods that hold one of the devices. */
  holders(resource: string, ids: readonly string[]): PodUid[] {
    const wanted = new Set(ids);
    return this.uids().filter((podUid) => [...this.podIds(podUid, resource)].some((id) => wanted.has(id)));
  }

  /** @returns false when it had none */
  forget(podUid: PodUid): boolean {
    return this.pods.delete(podUid);
  }

  *entries(): IterableIterator<GrantedEntry> {
    for (const [podUid, containers] of this.pods) {
      for (const [container, resources] of containers) {
        for (const [resource, granted] of resources) yield { podUid, container, resource, ...granted };
      }
    }
  }
}

function idsOf({ byNode }: Pick<Granted, "byNode">): ReadonlySet<string> {
  return new Set([...byNode.values()].flat());
}

/** Device IDs by the NUMA nodes they are near to. */
export function groupByNode(
  ids: Iterable<string>,
  nodesOf: (id: string) => readonly number[] | undefined,
): Map<number, string[]> {
  const byNode = new Map<number, string[]>();
  for (const id of ids) {
    const nodes = nodesOf(id) ?? [];
    for (const node of nodes.length === 0 ? [NO_NODE] : nodes) {
      const near = byNode.get(node);
      if (near === undefined) byNode.set(node, [id]);
      else near.push(id);
    }
  }
  return byNode;
}

/** Device ID to its NUMA nodes, sorted; empty for none. */
export function nodesOfDevices({ byNode }: Pick<Granted, "byNode">): Map<string, number[]> {
  const nodes = new Map<string, number[]>();
  for (const [node, ids] of [...byNode].sort(([a], [b]) => a - b)) {
    for (const id of ids) nodes.set(id, [...(nodes.get(id) ?? []), ...(node === NO_NODE ? [] : [node])]);
  }
  return nodes;
}
