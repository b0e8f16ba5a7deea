// Main's handlers of the records and questions of its threads.

import type { Deferred } from "../../shared/base/turns/deferred.js";
import type { PodDiskUsage } from "../../shared/contracts/eviction.js";
import type { UnusedImage } from "../../shared/contracts/image-gc.js";
import type { ManifestCall, ManifestReply } from "../../shared/contracts/manifests.js";
import type { NodeFacts, PodFacts, RestartReply } from "../../shared/contracts/nodelet.js";
import type { PlegRecord, WatchedPod } from "../../shared/contracts/pleg.js";
import type { ProbedPod, ProbeRecord } from "../../shared/contracts/prober.js";
import type { PodTimeline } from "../../shared/contracts/timeline.js";
import type { Event } from "../../shared/kubernetes/api/event.js";
import { isStaticPod, podDescription, type Pod } from "../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { EventStore } from "../pods/events/node-recorder.js";
import type { ProbeManager } from "../pods/probes/probe-manager.js";
import type { Sources } from "../pods/sources/start-sources.js";
import type { PodSync } from "../pods/sync/pod-sync.js";
import type { Timelines } from "../pods/timeline/timelines.js";
import type { EvictionOwner, ImageGcOwner, ThreadOwner } from "../threads/thread-owner.js";
import type { FactDeps } from "./facts.js";
import type { NodeEviction } from "./node-eviction.js";

export interface ThreadOwnerDeps extends Omit<FactDeps, "statuses" | "kills"> {
  sync: PodSync;
  probes: ProbeManager;
  events: EventStore;
  unusedImages: ThreadOwner["unusedImages"];
  timelines: Timelines;
  collection: ImageGcOwner;
  eviction: Deferred<NodeEviction>;
  sources: Pick<Sources, "submitted" | "pods">;
  log: Logger;
}

/** The newest events that a question about one object gets. */
const EVENTS_OF_ONE = 100;

/** Records and questions of the threads, passed on to the component that handles them. */
export class MainThreadOwner implements ThreadOwner {
  readonly collection: ThreadOwner["collection"];
  private readonly facts: FactDeps;

  constructor(private readonly deps: ThreadOwnerDeps) {
    this.collection = deps.collection;
    this.facts = {
      state: deps.state,
      statuses: deps.sync.statuses,
      volumes: deps.volumes,
      kills: deps.probes.kills,
      pressures: deps.pressures,
      membership: deps.membership,
      calls: deps.calls,
      hostIPs: deps.hostIPs,
      resources: deps.resources,
      settled: deps.settled,
      clock: deps.clock,
      startedAt: deps.startedAt,
      configuration: deps.configuration,
    };
  }

  onPlegRecord(record: PlegRecord): void {
    this.deps.sync.loop.onPlegRecord(record);
    this.deps.membership?.onRecord(record);
  }

  watches(): WatchedPod[] {
    return this.deps.sync.watches();
  }

  resend(): void {
    this.deps.state.cache.resend();
  }

  onProbeRecord(record: ProbeRecord): void {
    const changed = this.deps.probes.onRecord(record);
    if (changed !== undefined) this.deps.sync.onProbeResult(changed);
  }

  probedPods(): ProbedPod[] {
    return this.deps.probes.probedPods();
  }

  async eviction(): Promise<EvictionOwner> {
    return (await this.deps.eviction.get()).eviction;
  }

  async podDisks(uids: readonly PodUid[], maxAgeMs: number, patienceMs: number): Promise<PodDiskUsage[]> {
    return (await this.deps.eviction.get()).diskUsage.of(uids, maxAgeMs, patienceMs);
  }

  pods(): Pod[] {
    return this.deps.sync.shownPods();
  }

  timeline(namespace: string, name: string): PodTimeline | undefined {
    return this.deps.timelines.show(namespace, name);
  }

  mirrorUid(namespace: string, name: string): PodUid | undefined {
    return this.deps.membership?.mirrorUid(namespace, name);
  }

  async nodeFacts(): Promise<NodeFacts> {
    return (await import("./facts.js")).nodeFacts(this.facts);
  }

  async podFacts(namespace: string, name: string): Promise<PodFacts | undefined> {
    return (await import("./facts.js")).podFacts(this.facts, namespace, name);
  }

  async allPodFacts(): Promise<Record<string, PodFacts>> {
    return (await import("./facts.js")).allPodFacts(this.facts);
  }

  restartPod(namespace: string, name: string): RestartReply | undefined {
    const named = ({ metadata }: Pod): boolean => metadata.name === name && metadata.namespace === namespace;
    const { sync, sources, log } = this.deps;
    const all = sources.pods().filter(named);
    const pod = all.find(isStaticPod) ?? all[0];
    if (pod === undefined) return sync.shownPods().some(named) ? { result: "deleted" } : undefined;
    if (!isStaticPod(pod)) return { result: "api" };
    log.info({ pod: podDescription(pod), uid: pod.metadata.uid }, `${podDescription(pod)}: a restart was requested`);
    sync.loop.restart(pod);
    return { result: "restarting" };
  }

  async podStarts(): Promise<Record<string, number>> {
    return (await import("./facts.js")).podStarts(this.facts);
  }

  events(about?: string): Event[] {
    const { events } = this.deps;
    return about === undefined ? events.all() : events.about(about).slice(-EVENTS_OF_ONE);
  }

  async unusedImages(): Promise<UnusedImage[]> {
    return this.deps.unusedImages();
  }

  async manifests(call: ManifestCall): Promise<ManifestReply> {
    return this.deps.sources.submitted(call);
  }
}
