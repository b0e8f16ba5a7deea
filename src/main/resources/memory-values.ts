// Computes a container's memory values under MemoryQoS and the swap behaviours from requests and limits. Pure.
// Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/#memory-qos-with-cgroup-v2

import type { QOSClass } from "../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../shared/kubernetes/api/qos.js";
import { isCriticalPod } from "./oom-score.js";

/** Gate MemoryQoS is on. */
export interface MemoryQos {
  /** memoryThrottlingFactor, above 0 and up to 1. */
  throttlingFactor: number;
  /** memoryReservationPolicy is TieredReservation: requests are kept from reclaim. */
  reserve: boolean;
  /** The node's value, for containers without a limit. */
  allocatableBytes: bigint;
  /** Page size of the kernel, in bytes. */
  pageSize: bigint;
}

/** memorySwap.swapBehavior; "" of the configuration is NoSwap. */
export interface Swap {
  behavior: "NoSwap" | "LimitedSwap";
  /** Swap of the node. */
  nodeBytes: bigint;
}

/** Memory protected from reclaim, by QoS class: always, as far as possible, or not at all. */
export function reservedMemory(qos: QOSClass, requestBytes: bigint): { min: bigint; low: bigint } {
  return { min: qos === "Guaranteed" ? requestBytes : 0n, low: qos === "Burstable" ? requestBytes : 0n };
}

/** memory.high of a container, where the kernel begins to slow it down; undefined: nowhere before its limit. */
export function memoryHigh(requestBytes: bigint, limitBytes: bigint, options: MemoryQos): bigint | undefined {
  if (requestBytes === limitBytes) return undefined;
  const top = limitBytes > 0n ? limitBytes : options.allocatableBytes;
  if (top <= 0n) return undefined;
  const request = Number(requestBytes);
  const page = Number(options.pageSize);
  const high = Math.floor((request + (Number(top) - request) * options.throttlingFactor) / page) * page;
  return high > request ? BigInt(high) : undefined;
}

/** memory.swap.max on v2, bytes: a part of the node's swap as large as the request's part of its memory. */
export function swapLimit(
  pod: Pod,
  requestBytes: bigint,
  limitBytes: bigint,
  { behavior, nodeBytes }: Swap,
  nodeMemoryBytes: bigint,
): bigint {
  if (behavior !== "LimitedSwap" || requestBytes === 0n || requestBytes === limitBytes) return 0n;
  if (qosClass(pod) !== "Burstable" || isCriticalPod(pod)) return 0n;
  return (requestBytes * nodeBytes) / nodeMemoryBytes;
}
