// Calls to the pod resources service as operators of other kubelets know them. Main thread only.

import type { Counter } from "../../../shared/telemetry/metrics/prom.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export type PodResourcesVersion = "v1" | "v1alpha1";
export type PodResourcesCall = "list" | "get" | "get_allocatable";

export interface PodResourcesMetrics {
  requested(version: PodResourcesVersion, call: PodResourcesCall): void;
  failed(version: PodResourcesVersion, call: PodResourcesCall): void;
}

const CALLS: readonly PodResourcesCall[] = ["list", "get", "get_allocatable"];
const PREFIX = "kubelet_pod_resources_endpoint";
const BY_VERSION = "Broken down by server api version.";

export function podResourcesMetrics(registry: ThreadRegistry): PodResourcesMetrics {
  const counter = (name: string, help: string): Counter<"server_api_version"> =>
    registry.counter(`${PREFIX}_${name}`, `${help} ${BY_VERSION}`, ["server_api_version"]);
  const total = counter("requests_total", "Cumulative number of requests to the PodResource endpoint.");
  const requests = new Map(
    CALLS.map((call) => [call, counter(`requests_${call}`, `Number of requests to the PodResource ${call} endpoint.`)]),
  );
  const errors = new Map(
    CALLS.map((call) => [
      call,
      counter(`errors_${call}`, `Number of requests to the PodResource ${call} endpoint which returned error.`),
    ]),
  );
  return {
    requested(server_api_version, call) {
      total.inc({ server_api_version });
      requests.get(call)?.inc({ server_api_version });
    },
    failed: (server_api_version, call) => errors.get(call)?.inc({ server_api_version }),
  };
}
