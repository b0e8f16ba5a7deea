// Gate PodLevelResourceManagers: what CPU and memory manager have in common for pods with pod-level resources, and its
// metrics.

import type { Container } from "../../../shared/kubernetes/api/pod.js";
import { parseQuantity } from "../../../shared/kubernetes/api/quantity.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

/** Names are KubeletConfiguration's, except the gate PodLevelResourceManagers. */
export interface PodLevelSettings {
  podLevelResourceManagers: boolean;
  topologyManagerPolicy: string;
  topologyManagerScope: "container" | "pod";
}

/**
 * "shared": a pod with pod-level resources has nothing exclusive. "containers": its containers may have. "whole": the
 * pod has resources as a whole, of which its containers get their parts.
 */
export type PodLevelMode = "shared" | "containers" | "whole";

/** Only a topology manager with scope pod allocates to pods as a whole. */
export function podLevelMode(settings: PodLevelSettings): PodLevelMode {
  if (!settings.podLevelResourceManagers) return "shared";
  return settings.topologyManagerPolicy !== "none" && settings.topologyManagerScope === "pod" ? "whole" : "containers";
}

/** In a pod with pod-level resources, only a container that would be Guaranteed by itself gets exclusive resources. */
export function isGuaranteedByItself({ resources: { requests, limits } = {} }: Container): boolean {
  return (["cpu", "memory"] as const).every((name) => {
    const request = parseQuantity(requests?.[name] ?? 0).nanos;
    return request > 0n && request === parseQuantity(limits?.[name] ?? 0).nanos;
  });
}

/** From which resources an allocation was made: those of the node, or those of a pod as a whole. */
export type AllocationSource = "node" | "pod";

export interface PodLevelMetrics {
  allocated(source: AllocationSource, count: number): void;
  failed(source: AllocationSource): void;
  /** Containers that got exclusive resources of the node or of their pod, or share those of their pod. */
  assigned(type: "node_exclusive" | "pod_exclusive" | "pod_shared", count: number): void;
}

/** Upstream registers them only with the gate; without it nothing is counted. */
export function podLevelMetrics(
  registry: ThreadRegistry,
  resource: "cpu" | "memory",
  { podLevelResourceManagers }: Pick<PodLevelSettings, "podLevelResourceManagers">,
): PodLevelMetrics {
  if (!podLevelResourceManagers) return noPodLevelMetrics;
  const bySource = ["resource_name", "source"] as const;
  const allocations = registry.counter(
    "resource_manager_allocations_total",
    "Number of exclusive resource allocations performed by a resource manager.",
    bySource,
  );
  const errors = registry.counter(
    "resource_manager_allocation_errors_total",
    "Number of errors encountered during exclusive resource allocation.",
    bySource,
  );
  const assignments = registry.counter(
    "resource_manager_container_assignments",
    "Number of containers with a specific type of resource assignment.",
    ["resource_name", "assignment_type"],
  );
  return {
    allocated(source, count) {
      if (count > 0) allocations.inc({ resource_name: resource, source }, count);
    },
    failed: (source) => errors.inc({ resource_name: resource, source }),
    assigned(type, count) {
      if (count > 0) assignments.inc({ resource_name: resource, assignment_type: type }, count);
    },
  };
}

const ignore = (): undefined => undefined;
const noPodLevelMetrics: PodLevelMetrics = { allocated: ignore, failed: ignore, assigned: ignore };
