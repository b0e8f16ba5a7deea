// The metrics of the runtime verbs, under upstream's names.

import { LabelValues } from "../../shared/telemetry/metrics/label-values.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import type { RuntimeMetrics } from "../containers/runtime/node-runtime.js";
import type { PodMetrics } from "../pods/sync/metrics.js";

export function countingMetrics(metrics: PodMetrics, registry: ThreadRegistry): RuntimeMetrics {
  const fallbacks = registry.counter(
    "kubelet_lifecycle_handler_http_fallbacks_total",
    "The number of times that lifecycle handlers successfully fell back to HTTP from HTTPS",
  );
  const cutShort = registry.counter(
    "kubelet_sleep_action_terminated_early_total",
    "The number of times that lifecycle sleep handlers got terminated before they finished",
  );
  const imageVolumes = {
    requested: registry.counter("kubelet_image_volume_requested_total", "Number of requested image volumes"),
    mounted: registry.counter("kubelet_image_volume_mounted_succeed_total", "Number of successful image volume mounts"),
    failed: registry.counter("kubelet_image_volume_mounted_errors_total", "Number of failed image volume mounts"),
  };
  const handlers = new LabelValues();
  return {
    imageVolumes: (what, count) => imageVolumes[what].inc(count),
    httpHookFellBack: () => fallbacks.inc(),
    sleepCutShort: () => cutShort.inc(),
    sandboxRun(durationMs, ok, { handler, ownUsers }) {
      const runtime_handler = handlers.of(handler);
      metrics.startedPods.inc();
      if (ownUsers) metrics.startedUserNamespacedPods.inc();
      metrics.runPodSandboxDuration.observe({ runtime_handler }, durationMs / 1000);
      if (ok) return;
      metrics.startedPodsErrors.inc();
      if (ownUsers) metrics.startedUserNamespacedPodsErrors.inc();
      metrics.runPodSandboxErrors.inc({ runtime_handler });
    },
    containerStarted: (kind) => metrics.startedContainers.inc({ container_type: kind }),
    containerStartFailed: (kind, code) => metrics.startedContainersErrors.inc({ container_type: kind, code }),
    userNamespacedPodFailed: () => metrics.startedUserNamespacedPodsErrors.inc(),
  };
}

/** Future kubelets read the cgroup driver only from the runtime: a runtime that does not report it loses support. */
export function recordLosingSupport(registry: ThreadRegistry): void {
  registry
    .gauge(
      "kubelet_cri_losing_support",
      "Whether this runtime will lose support with the kubelet version of the label; 1 if so",
      ["version"],
    )
    .set({ version: "1.37.0" }, 1);
}
