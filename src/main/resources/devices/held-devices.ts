// Devices that are held for containers whose pods are being admitted, or whose plugin is being called.
// Invariant: a held device is not offered to another container; a pod that is given up holds nothing.

import type { PodUid } from "../../../shared/kubernetes/identifiers.js";

export interface HeldRequest {
  readonly podUid: PodUid;
  readonly container: string;
  readonly resource: string;
  /** The number of devices. */
  readonly required: number;
  /** NUMA nodes that the devices should be near to; undefined: no preference. */
  readonly affinity: readonly number[] | undefined;
  /** Devices that the container does not take over from init containers of its pod. */
  fresh: readonly string[];
  /** All of its devices, as far as they are chosen. */
  ids: readonly string[];
}

export class HeldDevices {
  /** In the order in which they were held. */
  private readonly pods = new Map<PodUid, HeldRequest[]>();

  put(request: HeldRequest): void {
    this.pods.set(request.podUid, [...this.of(request.podUid), request]);
  }

  of(podUid: PodUid): readonly HeldRequest[] {
    return this.pods.get(podUid) ?? [];
  }

  has(request: HeldRequest): boolean {
    return this.of(request.podUid).includes(request);
  }

  remove(request: HeldRequest): void {
    const left = this.of(request.podUid).filter((one) => one !== request);
    if (left.length === 0) this.pods.delete(request.podUid);
    else this.pods.set(request.podUid, left);
  }

  forget(podUid: PodUid): void {
    this.pods.delete(podUid);
  }

  /** What containers of the pod hold whose turn is before that of the container. */
  before(podUid: PodUid, container: string): readonly HeldRequest[] {
    const all = this.of(podUid);
    const own = all.findIndex((one) => one.container === container);
    return own === -1 ? all : all.slice(0, own);
  }

  /** Device ids that are held for any container but `except`. */
  taken(resource: string, except?: { podUid: PodUid; container: string }): Set<string> {
    const taken = new Set<string>();
    for (const request of [...this.pods.values()].flat()) {
      const isOwn = request.podUid === except?.podUid && request.container === except.container;
      if (request.resource === resource && !isOwn) for (const id of request.fresh) taken.add(id);
    }
    return taken;
  }
}
