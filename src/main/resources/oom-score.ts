// oom_score_adj of a container: how readily the kernel kills it when the node runs out of memory.

import { containerNamed, perSpec } from "../../shared/kubernetes/api/per-spec.js";
import { bytesOf, hasPodLevelResources, podRequests, sumOf } from "../../shared/kubernetes/api/pod-requests.js";
import { CRITICAL_PRIORITY, isSidecar, type Container, type Pod } from "../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../shared/kubernetes/api/qos.js";
import { value } from "../../shared/kubernetes/api/quantity.js";
const GUARANTEED_OOM_SCORE_ADJ = -997;
const BEST_EFFORT_OOM_SCORE_ADJ = 1000;
const BURSTABLE_MIN = 3n;
const BURSTABLE_MAX = 999n;

const STATIC_SOURCES = new Set(["file", "http"]);

/** Static, mirror, or priority of a system class: never evicted or preempted by ordinary pods. */
export function isCriticalPod(pod: Pod): boolean {
  const annotations = pod.metadata.annotations ?? {};
  if (STATIC_SOURCES.has(annotations["kubernetes.io/config.source"] ?? "")) return true;
  if (annotations["kubernetes.io/config.mirror"] !== undefined) return true;
  return pod.spec.priority !== undefined && pod.spec.priority >= CRITICAL_PRIORITY;
}

/**
 * -997..1000. `nodeMemoryBytes` is the node's capacity, above 0.
 * A sidecar is never killed before the regular containers it serves.
 */
export function oomScoreAdj(pod: Pod, container: Container, nodeMemoryBytes: bigint): number {
  if (isCriticalPod(pod) && pod.spec.priorityClassName === "system-node-critical") return GUARANTEED_OOM_SCORE_ADJ;
  const qos = qosClass(pod);
  if (qos === "Guaranteed") return GUARANTEED_OOM_SCORE_ADJ;
  if (qos === "BestEffort") return BEST_EFFORT_OOM_SCORE_ADJ;
  const surplus = podLevelSurplus(pod.spec);
  let score = scoreOf(memoryRequest(container) + surplus, nodeMemoryBytes);
  if (isSidecar(container) && containerNamed(pod.spec, container.name)?.place === "init") {
    const regular = scoreOf(smallestRegularRequest(pod.spec) + surplus, nodeMemoryBytes);
    if (regular < score) score = regular;
  }
  if (score < BURSTABLE_MIN) return Number(BURSTABLE_MIN);
  return Number(score > BURSTABLE_MAX ? BURSTABLE_MAX : score);
}

function scoreOf(requestBytes: bigint, nodeMemoryBytes: bigint): bigint {
  return 1000n - (1000n * requestBytes) / nodeMemoryBytes;
}

function memoryRequest(container: Container): bigint {
  return bytesOf(container.resources?.requests, "memory");
}

/** The pod-level memory request less the requests of its containers, divided evenly. */
const podLevelSurplus = perSpec((spec): bigint => {
  const pod = { spec };
  if (!hasPodLevelResources(pod)) return 0n;
  const podBytes = bytesOf(spec.resources?.requests, "memory");
  const containerBytes = value(sumOf(podRequests(pod, { skipPodLevel: true, excludeOverhead: true }), "memory"));
  const count = BigInt(spec.containers.length + (spec.initContainers?.length ?? 0));
  return podBytes > containerBytes ? (podBytes - containerBytes) / count : 0n;
});

const smallestRegularRequest = perSpec((spec): bigint => {
  const requests = spec.containers.map(memoryRequest);
  return requests.reduce((least, bytes) => (bytes < least ? bytes : least), requests[0] ?? 0n);
});
