// What the runtime verbs count, under upstream's names.
import type { PodMetrics } from "../../shared/metrics/pods.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import type { RuntimeMetrics } from "../runtime/node-runtime.js";

export function countingMetrics(metrics: PodMetrics, registry: ThreadRegistry): RuntimeMetrics {
  const fallbacks = registry.counter(
    "kubelet_lifecycle_handler_http_fallbacks_total",
    "HTTPS lifecycle requests that were answered without TLS and succeeded without",
  );
  const cutShort = registry.counter(
    "kubelet_sleep_action_terminated_early_total",
    "Sleeps of lifecycle hooks that ended before their time",
  );
  const imageVolumes = {
    requested: registry.counter("kubelet_image_volume_requested_total", "Mounts of image volumes asked for"),
    mounted: registry.counter("kubelet_image_volume_mounted_succeed_total", "Mounts of image volumes made"),
    failed: registry.counter("kubelet_image_volume_mounted_errors_total", "Mounts of image volumes that failed"),
  };
  return {
    imageVolumes: (what, count) => imageVolumes[what].inc(count),
    httpHookFellBack: () => fallbacks.inc(),
    sleepCutShort: () => cutShort.inc(),
    sandboxRun(durationMs, ok, { handler, ownUsers }) {
      metrics.startedPods.inc();
      if (ownUsers) metrics.startedUserNamespacedPods.inc();
      metrics.runPodSandboxDuration.observe({ runtime_handler: handler }, durationMs / 1000);
      if (ok) return;
      metrics.startedPodsErrors.inc();
      if (ownUsers) metrics.startedUserNamespacedPodsErrors.inc();
      metrics.runPodSandboxErrors.inc({ runtime_handler: handler });
    },
    containerStarted: (kind) => metrics.startedContainers.inc({ container_type: kind }),
    containerStartFailed: (kind, code) => metrics.startedContainersErrors.inc({ container_type: kind, code }),
  };
}

/** The next kubelet asks the runtime for its cgroup driver and takes no other answer. */
export function recordLosingSupport(registry: ThreadRegistry): void {
  registry
    .gauge("kubelet_cri_losing_support", "1: kubelets of the version and later do not run with this runtime", [
      "version",
    ])
    .set({ version: "1.37.0" }, 1);
}
