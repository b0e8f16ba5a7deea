// Main's side of the contracts of its threads: what their records and questions come to. MainThreadOwner
// (kubelet/thread-owner.ts) implements it.

import type { PodDiskUsage } from "../../shared/contracts/eviction.js";
import type { ImageGcUpcalls, UnusedImage } from "../../shared/contracts/image-gc.js";
import type { ManifestCall, ManifestReply } from "../../shared/contracts/manifests.js";
import type { NodeFacts, PodFacts, RestartReply } from "../../shared/contracts/nodelet.js";
import type { PlegRecord, WatchedPod } from "../../shared/contracts/pleg.js";
import type { ProbedPod, ProbeRecord } from "../../shared/contracts/prober.js";
import type { PodTimeline } from "../../shared/contracts/timeline.js";
import type { Event } from "../../shared/kubernetes/api/event.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { Eviction } from "../resources/eviction/eviction.js";

export type EvictionOwner = Pick<Eviction, "pods" | "ordersUnderWay" | "pressures" | "onRecord" | "upcalls">;

export interface ImageGcOwner {
  upcalls: Omit<ImageGcUpcalls, "known">;
  leases: { threadStarted(generation: number): void; threadGone(): void };
}

export interface ThreadOwner {
  onPlegRecord(record: PlegRecord): void;
  /** The watches of all pods, for a pleg thread that has just started. */
  watches(): WatchedPod[];
  /** Repeats the inspect requests for a restarted pleg thread. */
  resend(): void;
  /** All pods with their statuses, for a server's thread that has just started. */
  pods(): Pod[];
  /** The timeline of the newest pod of that name. */
  timeline(namespace: string, name: string): PodTimeline | undefined;
  /** The mirror pod of the static pod of that name. */
  mirrorUid(namespace: string, name: string): PodUid | undefined;
  onProbeRecord(record: ProbeRecord): void;
  /** All probes, for a prober thread that has just started. */
  probedPods(): ProbedPod[];
  /** Answers the questions of the image-gc thread. */
  collection: ImageGcOwner;
  /** The eviction thread's callbacks; created at their first use. */
  eviction(): Promise<EvictionOwner>;
  /** Disk usage of pods: figures no older than `maxAgeMs` where they can be had within `patienceMs`. */
  podDisks(uids: readonly PodUid[], maxAgeMs: number, patienceMs: number): Promise<PodDiskUsage[]>;
  /** For the nodelet command. */
  nodeFacts(): Promise<NodeFacts>;
  podFacts(namespace: string, name: string): Promise<PodFacts | undefined>;
  /** State of each pod that its status does not show. */
  allPodFacts(): Promise<Record<PodUid, PodFacts>>;
  /** Terminates a static pod and starts it again; undefined: there is none of that name. */
  restartPod(namespace: string, name: string): RestartReply | undefined;
  /** Since when each pod is on this node. */
  podStarts(): Promise<Record<PodUid, number>>;
  /** The kept events, least recently recorded first. `about`: UID of the object, whose newest ones are wanted. */
  events(about?: string): Event[];
  /** In the order in which collection removes them. */
  unusedImages(): Promise<UnusedImage[]>;
  /** A call of the manifest API. */
  manifests(call: ManifestCall): Promise<ManifestReply>;
}
