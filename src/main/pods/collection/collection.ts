// Main's side of garbage collection: the upcalls of the image-gc thread, and the periodic removal of containers and
// leftovers.

import type { ImageGcUpcalls, ImageNames } from "../../../shared/contracts/image-gc.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { ContainerCollector, type ContainerCollectorDeps } from "./container-collector.js";
import type { ImageLeases } from "./image-leases.js";
import type { ImageUsers } from "./image-users.js";

/** The part of the sync path that collection uses. */
export interface CollectionSource {
  /** The pod has come to its end, though its source still wants it. */
  isTerminated(uid: string): boolean;
  /** Every source has delivered, the runtime was listed, and the termination of unwanted pods has begun. */
  settled(): boolean;
  observed(): Iterable<ObservedPod>;
  /** Pods that run or will. */
  wanted(): Iterable<Pod>;
}

export interface CollectionDeps extends Omit<ContainerCollectorDeps, "livingPods" | "isTerminated"> {
  source: CollectionSource;
  users: ImageUsers;
  leases: ImageLeases;
  events: Pick<EventRecorder, "node">;
}

export class Collection implements ImageGcUpcalls {
  private readonly containers: ContainerCollector;

  constructor(private readonly deps: CollectionDeps) {
    this.containers = new ContainerCollector({
      ...deps,
      livingPods: () => this.livingPods(),
      isTerminated: (uid) => deps.source.isTerminated(uid),
    });
  }

  start(): void {
    this.containers.start();
  }

  stop(): Promise<void> {
    return this.containers.stop();
  }

  /** The disk is short: removes exited containers, and all containers of terminated pods. */
  removeDeadContainers(): Promise<void> {
    return this.containers.removeDead();
  }

  imagesInUse(images: ImageNames[]): Promise<string[] | undefined> {
    if (!this.deps.source.settled()) return Promise.resolve(undefined);
    return Promise.resolve(this.deps.users.used(images).map(({ id }) => id));
  }

  grant(proposal: Parameters<ImageGcUpcalls["grant"]>[0]): Promise<string[]> {
    return Promise.resolve(this.deps.leases.grant(proposal));
  }

  release(generation: number, ids: string[]): void {
    this.deps.leases.release(generation, ids);
  }

  containersAlive(ids: string[]): Promise<string[] | undefined> {
    const { source } = this.deps;
    if (!source.settled()) return Promise.resolve(undefined);
    const alive = new Set<string>();
    for (const { containers } of source.observed()) {
      for (const { id, state } of containers) if (state !== ContainerState.CONTAINER_EXITED) alive.add(id);
    }
    return Promise.resolve(ids.filter((id) => alive.has(id)));
  }

  warn(reason: Parameters<ImageGcUpcalls["warn"]>[0], message: string): void {
    this.deps.events.node({ type: "Warning", reason, message });
  }

  private livingPods(): ObservedPod[] | undefined {
    const { source } = this.deps;
    if (!source.settled()) return undefined;
    const wanted = new Set([...source.wanted()].map(({ metadata }) => metadata.uid));
    return [...source.observed()].filter(({ uid }) => wanted.has(uid));
  }
}
