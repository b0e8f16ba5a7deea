// Pods and containers as the sync path counts them, under upstream's names (kubelet_*). Main thread only.
import type { Counter, Gauge, Histogram } from "./prom.js";
import type { ThreadRegistry } from "./thread-registry.js";

/** Upstream's buckets for pod start times, seconds. */
const POD_START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];

export type ContainerKind = "container" | "init_container" | "ephemeral_container";
export type WorkerOperation = "create" | "update" | "sync" | "kill" | "terminated";

/** Label values are strings; upstream writes `static="true"` for static pods and `static=""` for the rest. */
export interface PodMetrics {
  runningPods: Gauge<never>;
  /** Label container_state: RunningState. */
  runningContainers: Gauge<"container_state">;
  desiredPods: Gauge<"static">;
  activePods: Gauge<"static">;
  restartedPods: Counter<"static">;
  startedPods: Counter<never>;
  startedPodsErrors: Counter<never>;
  startedUserNamespacedPods: Counter<never>;
  startedUserNamespacedPodsErrors: Counter<never>;
  startedContainers: Counter<"container_type">;
  /** `code` is the reason of the failed start, e.g. CreateContainerError. */
  startedContainersErrors: Counter<"container_type" | "code">;
  /** Seconds, as all durations below: from the pod first seen to running. */
  podStartDuration: Histogram<never>;
  /** From the pod first seen to running. */
  podStartTotalDuration: Histogram<never>;
  /** As podStartTotalDuration, without image pulls and init containers. */
  podStartSliDuration: Histogram<never>;
  /** podStartSliDuration of the first pod with a network of its own. */
  firstNetworkPodStartSli: Gauge<never>;
  terminatedContainers: Counter<"container_type" | "exit_code" | "reason">;
  managedEphemeralContainers: Gauge<never>;
  workingPods: Gauge<"lifecycle" | "config" | "static">;
  podWorkerDuration: Histogram<"operation_type">;
  podWorkerStartDuration: Histogram<never>;
  containersPerPod: Histogram<never>;
  runPodSandboxDuration: Histogram<"runtime_handler">;
  runPodSandboxErrors: Counter<"runtime_handler">;
  orphanedRuntimePods: Counter<never>;
}

export function podMetrics(registry: ThreadRegistry): PodMetrics {
  const handler = ["runtime_handler"] as const;
  return {
    runningPods: registry.gauge("kubelet_running_pods", "Pods that have a running sandbox"),
    runningContainers: registry.gauge("kubelet_running_containers", "Containers by state", ["container_state"]),
    desiredPods: registry.gauge("kubelet_desired_pods", "Pods the sources want on this node", ["static"]),
    activePods: registry.gauge("kubelet_active_pods", "Pods with a worker that is not yet terminated", ["static"]),
    restartedPods: registry.counter("kubelet_restarted_pods_total", "Pods deleted and made again, same UID", [
      "static",
    ]),
    startedPods: registry.counter("kubelet_started_pods_total", "Pod sandboxes asked for"),
    startedUserNamespacedPods: registry.counter(
      "kubelet_started_user_namespaced_pods_total",
      "Pod sandboxes with user ids of their own asked for",
    ),
    startedUserNamespacedPodsErrors: registry.counter(
      "kubelet_started_user_namespaced_pods_errors_total",
      "Pod sandboxes with user ids of their own that failed to start",
    ),
    startedPodsErrors: registry.counter("kubelet_started_pods_errors_total", "Pod sandboxes that failed to start"),
    startedContainers: registry.counter("kubelet_started_containers_total", "Containers asked for", ["container_type"]),
    startedContainersErrors: registry.counter(
      "kubelet_started_containers_errors_total",
      "Containers that failed to start",
      ["container_type", "code"],
    ),
    podStartDuration: registry.histogram(
      "kubelet_pod_start_duration_seconds",
      "From the pod first seen to the pod running, in seconds",
      [],
      POD_START_BUCKETS,
    ),
    podStartTotalDuration: registry.histogram(
      "kubelet_pod_start_total_duration_seconds",
      "From the pod first seen to all its containers running, in seconds",
      [],
      POD_START_BUCKETS,
    ),
    podStartSliDuration: registry.histogram(
      "kubelet_pod_start_sli_duration_seconds",
      "From the pod first seen to all its containers running, without image pulls and init containers, in seconds",
      [],
      POD_START_BUCKETS,
    ),
    firstNetworkPodStartSli: registry.gauge(
      "kubelet_first_network_pod_start_sli_duration_seconds",
      "Pod start SLI of the first pod with a network of its own, in seconds",
    ),
    terminatedContainers: registry.counter("kubelet_terminated_containers_total", "Containers that ended", [
      "container_type",
      "exit_code",
      "reason",
    ]),
    managedEphemeralContainers: registry.gauge(
      "kubelet_managed_ephemeral_containers",
      "Ephemeral containers in the pods of this node",
    ),
    workingPods: registry.gauge("kubelet_working_pods", "Pods by what their worker does, and who wants them", [
      "lifecycle",
      "config",
      "static",
    ]),
    podWorkerDuration: registry.histogram("kubelet_pod_worker_duration_seconds", "Duration of one sync of one pod", [
      "operation_type",
    ]),
    podWorkerStartDuration: registry.histogram(
      "kubelet_pod_worker_start_duration_seconds",
      "From the pod first seen to its worker starting, in seconds",
    ),
    containersPerPod: registry.histogram(
      "kubelet_containers_per_pod_count",
      "Containers in each pod",
      [],
      [1, 2, 4, 8, 16],
    ),
    runPodSandboxDuration: registry.histogram(
      "kubelet_run_podsandbox_duration_seconds",
      "Duration of RunPodSandbox in seconds",
      handler,
    ),
    runPodSandboxErrors: registry.counter("kubelet_run_podsandbox_errors_total", "RunPodSandbox failures", handler),
    orphanedRuntimePods: registry.counter(
      "kubelet_orphaned_runtime_pods_total",
      "Pods found in the runtime that no source knows",
    ),
  };
}
