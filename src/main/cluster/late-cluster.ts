// Holds the cluster connection of a node that starts before it has joined: static pods do not wait for the join.
// Components receive `access`; the join fills it once.
import type { ClusterAccess, ClusterObjects } from "../model/cluster-access.js";

export class LateCluster {
  private objects: ClusterObjects | undefined;
  private readonly listeners: ((objects: ClusterObjects) => void)[] = [];

  readonly access: ClusterAccess = () => this.objects;

  /** Called at once when the kubelet has joined already. */
  onJoined(listener: (objects: ClusterObjects) => void): void {
    if (this.objects !== undefined) listener(this.objects);
    else this.listeners.push(listener);
  }

  join(objects: ClusterObjects): void {
    if (this.objects !== undefined) throw new Error("the kubelet is already connected to its cluster");
    this.objects = objects;
    for (const listener of this.listeners.splice(0)) listener(objects);
  }
}
