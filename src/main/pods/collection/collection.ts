// Main's side of garbage collection: the upcalls of the image-gc thread, and the periodic removal of containers,
// leftovers and log links.

import type { Loop } from "../../../shared/base/turns/loop.js";
import type { ImageGcUpcalls, ImageNames } from "../../../shared/contracts/image-gc.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid, ContainerId } from "../../../shared/kubernetes/identifiers.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { ContainerCollector, type ContainerCollectorDeps } from "./container-collector.js";
import type { ImageLeases } from "./image-leases.js";
import type { ImageUsers } from "./image-users.js";
import { linkLoop } from "./log-links.js";

/** The part of the sync path that collection uses. */
export interface CollectionSource {
  /** The pod has come to its end, though its source still wants it. */
  isTerminated(uid: PodUid): boolean;
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
  /** For metrics. */
  linksRemoved(count: number): void;
}

/** Upstream's period. */
const LINK_PERIOD_MS = 60_000;

/** What main knows for the image-gc thread; the thread's class keeps the history. */
type Answers = Omit<ImageGcUpcalls, "known">;

export class Collection implements Answers {
  private readonly containers: ContainerCollector;
  private readonly links: Loop;

  constructor(private readonly deps: CollectionDeps) {
    this.containers = new ContainerCollector({
      cri: deps.cri,
      policy: deps.policy,
      livingPods: () => this.livingPods(),
      isTerminated: (uid) => deps.source.isTerminated(uid),
      changed: (uid, hints) => deps.changed(uid, hints),
      logFolders: deps.logFolders,
      sweepLeftovers: () => deps.sweepLeftovers(),
      events: deps.events,
      clock: deps.clock,
      log: deps.log,
    });
    this.links = linkLoop({
      directory: deps.logFolders.containerLogsDir,
      periodMs: LINK_PERIOD_MS,
      livingContainers: () => this.livingContainers(),
      removed: (count) => deps.linksRemoved(count),
      clock: deps.clock,
      log: deps.log,
    });
  }

  start(): void {
    this.containers.start();
    // The first round is a period away: at the start the links' containers are not known.
    this.links.start(LINK_PERIOD_MS);
  }

  async stop(): Promise<void> {
    await Promise.all([this.containers.stop(), this.links.stop()]);
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

  warn(reason: Parameters<ImageGcUpcalls["warn"]>[0], message: string): void {
    this.deps.events.node({ type: "Warning", reason, message });
  }

  /** Ids of the containers that are there and have not exited; undefined: not known yet. */
  private livingContainers(): Set<string> | undefined {
    const { source } = this.deps;
    if (!source.settled()) return undefined;
    const living = new Set<ContainerId>();
    for (const { containers } of source.observed()) {
      for (const { id, state } of containers) if (state !== ContainerState.CONTAINER_EXITED) living.add(id);
    }
    return living;
  }

  private livingPods(): ObservedPod[] | undefined {
    const { source } = this.deps;
    if (!source.settled()) return undefined;
    const wanted = new Set([...source.wanted()].map(({ metadata }) => metadata.uid));
    return [...source.observed()].filter(({ uid }) => wanted.has(uid));
  }
}
