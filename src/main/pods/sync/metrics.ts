// Pods and containers as the sync path counts them, under upstream's names (kubelet_*). Main thread only.

import { makeMetrics, type MetricRows, type MetricsOf } from "../../../shared/telemetry/metrics/metric-rows.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

/** Upstream's buckets for pod start times, seconds. */
const POD_START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];

export type ContainerKind = "container" | "init_container" | "ephemeral_container";

/** Label values are strings; upstream writes `static="true"` for static pods and `static=""` for the rest. */
const POD_METRICS = {
  runningPods: (registry) => registry.gauge("kubelet_running_pods", "Number of pods that have a running pod sandbox"),
  /** Label container_state: RunningState. */
  runningContainers: (registry) =>
    registry.gauge("kubelet_running_containers", "Number of containers by container state", ["container_state"]),
  desiredPods: (registry) =>
    registry.gauge("kubelet_desired_pods", "Number of pods that the kubelet is instructed to run", ["static"]),
  activePods: (registry) =>
    registry.gauge(
      "kubelet_active_pods",
      "Number of pods that the kubelet considers active and that count against resources in admission",
      ["static"],
    ),
  restartedPods: (registry) =>
    registry.counter(
      "kubelet_restarted_pods_total",
      "Number of pods that were restarted because they were deleted and recreated with the same UID",
      ["static"],
    ),
  startedPods: (registry) => registry.counter("kubelet_started_pods_total", "Cumulative number of pods started"),
  startedUserNamespacedPods: (registry) =>
    registry.counter(
      "kubelet_started_user_namespaced_pods_total",
      "Cumulative number of pods with user namespaces started",
    ),
  startedUserNamespacedPodsErrors: (registry) =>
    registry.counter(
      "kubelet_started_user_namespaced_pods_errors_total",
      "Cumulative number of errors when starting pods with user namespaces",
    ),
  startedPodsErrors: (registry) =>
    registry.counter("kubelet_started_pods_errors_total", "Cumulative number of errors when starting pods"),
  startedContainers: (registry) =>
    registry.counter("kubelet_started_containers_total", "Cumulative number of containers started", ["container_type"]),
  /** `code` is the reason of the failed start, e.g. CreateContainerError. */
  startedContainersErrors: (registry) =>
    registry.counter(
      "kubelet_started_containers_errors_total",
      "Cumulative number of errors when starting containers",
      ["container_type", "code"],
    ),
  /** Seconds, as all durations below: from the first delivery of the pod to running. */
  podStartDuration: (registry) =>
    registry.histogram(
      "kubelet_pod_start_duration_seconds",
      "Duration in seconds from the kubelet seeing a pod for the first time to the pod starting to run",
      [],
      POD_START_BUCKETS,
    ),
  /** From the first delivery of the pod to running. */
  podStartTotalDuration: (registry) =>
    registry.histogram(
      "kubelet_pod_start_total_duration_seconds",
      "Duration in seconds to start a pod since creation, including time to pull images and run init containers",
      [],
      POD_START_BUCKETS,
    ),
  /** As podStartTotalDuration, without image pulls and init containers. */
  podStartSliDuration: (registry) =>
    registry.histogram(
      "kubelet_pod_start_sli_duration_seconds",
      "Duration in seconds to start a pod, excluding time to pull images and run init containers, until all its containers are reported as started",
      [],
      POD_START_BUCKETS,
    ),
  /** podStartSliDuration of the first pod with its own network. */
  firstNetworkPodStartSli: (registry) =>
    registry.gauge(
      "kubelet_first_network_pod_start_sli_duration_seconds",
      "Duration in seconds to start the first pod with network, excluding time to pull images and run init containers",
    ),
  terminatedContainers: (registry) =>
    registry.counter("kubelet_terminated_containers_total", "Cumulative number of containers that terminated", [
      "container_type",
      "exit_code",
      "reason",
    ]),
  managedEphemeralContainers: (registry) =>
    registry.gauge(
      "kubelet_managed_ephemeral_containers",
      "Current number of ephemeral containers in pods managed by this kubelet",
    ),
  workingPods: (registry) =>
    registry.gauge(
      "kubelet_working_pods",
      "Number of pods that the kubelet is running, by lifecycle phase, configuration and static pod",
      ["lifecycle", "config", "static"],
    ),
  podWorkerDuration: (registry) =>
    registry.histogram(
      "kubelet_pod_worker_duration_seconds",
      "Duration in seconds to sync a single pod, by operation type: create, update or sync",
      ["operation_type"],
    ),
  podWorkerStartDuration: (registry) =>
    registry.histogram(
      "kubelet_pod_worker_start_duration_seconds",
      "Duration in seconds from the kubelet seeing a pod to starting a worker",
    ),
  containersPerPod: (registry) =>
    registry.histogram("kubelet_containers_per_pod_count", "The number of containers per pod", [], [1, 2, 4, 8, 16]),
  runPodSandboxDuration: (registry) =>
    registry.histogram(
      "kubelet_run_podsandbox_duration_seconds",
      "Duration in seconds of the run_podsandbox operations, by RuntimeClass handler",
      ["runtime_handler"],
    ),
  runPodSandboxErrors: (registry) =>
    registry.counter(
      "kubelet_run_podsandbox_errors_total",
      "Cumulative number of run_podsandbox operation errors, by RuntimeClass handler",
      ["runtime_handler"],
    ),
  orphanedRuntimePods: (registry) =>
    registry.counter(
      "kubelet_orphaned_runtime_pods_total",
      "Cumulative number of pods that were running in the runtime without a pod source",
    ),
} satisfies MetricRows;

export type PodMetrics = MetricsOf<typeof POD_METRICS>;

export function podMetrics(registry: ThreadRegistry): PodMetrics {
  return makeMetrics(POD_METRICS, registry);
}
