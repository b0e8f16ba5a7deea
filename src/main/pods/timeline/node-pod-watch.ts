// Follows the node's pods: writes their stages into the timelines, and counts them under upstream's names.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { containerNamed } from "../../../shared/kubernetes/api/per-spec.js";
import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import { isSidecar, isStaticPod, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod, ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid, ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { LabelValues } from "../../../shared/telemetry/metrics/label-values.js";
import { CONFIG_SEEN } from "../../model/api-json.js";
import type { PodSubscriber } from "../../model/pod-events.js";
import type { WorkerOperation } from "../../model/synced-pod.js";
import type { ContainerKind, PodMetrics } from "../sync/metrics.js";
import type { Timelines } from "./timelines.js";

interface Followed {
  /** Containers whose end was counted, or had come before this kubelet looked. */
  ended: Set<ContainerId>;
  /** The pod ran before this kubelet process: its start is not measured here. */
  known: boolean;
  looked: boolean;
}

export class NodePodWatch {
  private readonly reasons = new LabelValues();
  private readonly followed = new Map<PodUid, Followed>();
  private networkSeen = false;

  constructor(
    private readonly timelines: Timelines,
    private readonly metrics: PodMetrics,
    private readonly clock: Pick<Clock, "now">,
  ) {}

  readonly subscriber: PodSubscriber = {
    accepted: ({ pod, known }) => this.accepted(pod, known),
    synced: ({ pod, observed }) => this.seen(pod, observed),
    statusChanged: ({ pod, status }) => this.status(pod, status),
    started: ({ pod }) => this.running(pod),
    passEnded: ({ operation, durationMs }) => this.passed(operation, durationMs),
    orphanFound: () => this.orphan(),
    restarted: ({ pod }) => this.again(pod),
    removed: ({ uid }) => this.gone(uid),
  };

  accepted(pod: Pod, known: boolean): void {
    const { uid } = pod.metadata;
    const now = this.clock.now();
    const seenAt = seenTime(pod) ?? now;
    this.timelines.accept(pod, seenAt);
    if (this.followed.has(uid)) return;
    this.followed.set(uid, { ended: new Set(), known, looked: false });
    this.metrics.containersPerPod.observe(pod.spec.containers.length);
    if (!known) this.metrics.podWorkerStartDuration.observe(Math.max(now - seenAt, 0) / 1000);
  }

  seen(pod: Pod, observed: ObservedPod): void {
    const { uid } = pod.metadata;
    const running = observed.containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
    const names = new Set(running.map(({ metadata }) => metadata?.name ?? ""));
    const inits = (pod.spec.initContainers ?? []).filter((init) => !isSidecar(init) && names.has(init.name));
    this.timelines.initRunning(uid, new Set(inits.map(({ name }) => name)));
    const entry = this.followed.get(uid);
    if (entry === undefined) return;
    const there = new Set(observed.containers.map(({ id }) => id));
    for (const id of entry.ended) if (!there.has(id)) entry.ended.delete(id);
    for (const status of observed.containers) this.countEnd(pod, entry, status);
    entry.looked = true;
  }

  status(pod: Pod, status: PodStatus): void {
    this.timelines.phase(pod.metadata.uid, status.phase, status.reason);
  }

  running(pod: Pod): void {
    const { uid } = pod.metadata;
    const sliMs = this.timelines.running(uid);
    const seenAt = seenTime(pod);
    if (sliMs === undefined || seenAt === undefined || this.followed.get(uid)?.known !== false) return;
    const totalSeconds = (this.clock.now() - seenAt) / 1000;
    this.metrics.podStartDuration.observe(totalSeconds);
    this.metrics.podStartTotalDuration.observe(totalSeconds);
    this.metrics.podStartSliDuration.observe(sliMs / 1000);
    if (this.networkSeen || pod.spec.hostNetwork === true) return;
    this.networkSeen = true;
    this.metrics.firstNetworkPodStartSli.set(sliMs / 1000);
  }

  passed(operation: WorkerOperation, durationMs: number): void {
    this.metrics.podWorkerDuration.observe({ operation_type: operation }, durationMs / 1000);
  }

  orphan(): void {
    this.metrics.orphanedRuntimePods.inc();
  }

  again(pod: Pod): void {
    this.metrics.restartedPods.inc({ static: isStaticPod(pod) ? "true" : "" });
  }

  gone(uid: PodUid): void {
    this.followed.delete(uid);
    this.timelines.ended(uid);
  }

  private countEnd(pod: Pod, entry: Followed, status: ObservedContainer): void {
    if (status.state !== ContainerState.CONTAINER_EXITED || entry.ended.has(status.id)) return;
    entry.ended.add(status.id);
    // An earlier kubelet has counted the containers that exited before this one started.
    if (entry.known && !entry.looked) return;
    this.metrics.terminatedContainers.inc({
      container_type: kindOf(pod, status.metadata?.name ?? ""),
      exit_code: String(status.exitCode),
      reason: this.reasons.of(status.reason),
    });
  }
}

const KINDS = { init: "init_container", app: "container", ephemeral: "ephemeral_container" } as const;

function kindOf({ spec }: Pod, name: string): ContainerKind {
  return KINDS[containerNamed(spec, name)?.place ?? "app"];
}

/** Time at which a source first delivered the pod to this kubelet, milliseconds since the epoch. */
function seenTime(pod: Pod): number | undefined {
  const seen = Date.parse(pod.metadata.annotations?.[CONFIG_SEEN] ?? "");
  return Number.isNaN(seen) ? undefined : seen;
}
