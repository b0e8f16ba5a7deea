// The status message and the event annotations of an eviction, with upstream's texts, which tools match.

import type { EvictionPod } from "../../shared/contracts/eviction.js";
import type { EvictionSignal, EvictionThreshold } from "../../shared/kubernetes/api/eviction-threshold.js";
import { printQuantity, ZERO, type ExactQuantity } from "../../shared/kubernetes/api/quantity.js";
import type { Observations } from "./observe.js";
import { SIGNAL_FACTS, type Resource } from "./signals.js";
import { quantityOf } from "./thresholds.js";

const NANO = 1_000_000_000n;

export interface EvictionMessage {
  message: string;
  annotations: Record<string, string>;
}

/** Bytes of the short resource that the pod and each of its containers use; unknown values are absent. */
export interface Consumption {
  pod?: number;
  containers: ReadonlyMap<string, number>;
}

/** @param due thresholds that require action; the message names the first of the same resource. */
export function nodePressure(
  signal: EvictionSignal,
  due: readonly EvictionThreshold[],
  observations: Observations,
  pod: EvictionPod,
  consumption: Consumption,
): EvictionMessage {
  const { resource } = SIGNAL_FACTS[signal];
  const offenders = offendersOf(resource, pod, consumption);
  return {
    message:
      `The node was low on resource: ${resource}. ` + thresholdText(resource, due, observations) + offenders.message,
    annotations: { ...offenders.annotations, starved_resource: resource },
  };
}

function thresholdText(resource: Resource, due: readonly EvictionThreshold[], observations: Observations): string {
  const threshold = due.find(({ signal }) => SIGNAL_FACTS[signal].resource === resource);
  const observation = threshold === undefined ? undefined : observations.get(threshold.signal);
  if (threshold === undefined || observation === undefined) return "";
  const quantity = printQuantity(quantityOf(threshold.value, observation.capacity));
  const format = resource === "memory" || resource === "ephemeral-storage" ? "BinarySI" : "DecimalSI";
  return `Threshold quantity: ${quantity}, available: ${printed(observation.available, format)}. `;
}

function offendersOf(resource: Resource, pod: EvictionPod, { pod: used, containers }: Consumption): EvictionMessage {
  const annotations: Record<string, string> = {};
  let message = "";
  const requested = pod.podLevelMemory;
  // Upstream names a pod with a memory request of its own whether it exceeds that or not.
  if (resource === "memory" && requested !== undefined && used !== undefined) {
    message += consumptionText(`Pod ${pod.name}`, used, requested, resource);
    annotations["offending_pod"] = pod.name;
    annotations["offending_pod_usage"] = printed(used, "BinarySI");
  }
  const names: string[] = [];
  const usages: string[] = [];
  for (const { name, requests } of pod.containers) {
    const usage = containers.get(name);
    if (usage === undefined) continue;
    const request = (resource === "memory" ? requests.memory : requests.ephemeralStorage) ?? ZERO;
    if (!exceeds(usage, request)) continue;
    message += consumptionText(`Container ${name}`, usage, request, resource);
    names.push(name);
    usages.push(printed(usage, "BinarySI"));
  }
  return {
    message,
    annotations: {
      ...annotations,
      offending_containers: names.join(","),
      offending_containers_usage: usages.join(","),
    },
  };
}

function consumptionText(who: string, used: number, requested: ExactQuantity, resource: Resource): string {
  const usage = printed(used, "BinarySI");
  return `${who} was using ${usage}, request is ${printQuantity(requested)}, has larger consumption of ${resource}. `;
}

export const emptyDirLimit = (volume: string, limit: ExactQuantity): string =>
  `Usage of EmptyDir volume ${JSON.stringify(volume)} exceeds the limit "${printQuantity(limit)}". `;

export const podStorageLimit = (limit: ExactQuantity): string =>
  `Pod ephemeral local storage usage exceeds the total limit of containers ${printQuantity(limit)}. `;

export const containerStorageLimit = (container: string, limit: ExactQuantity): string =>
  `Container ${container} exceeded its local ephemeral storage limit "${printQuantity(limit)}". `;

export const exceeds = (used: number, limit: ExactQuantity): boolean => nanos(used) > limit.nanos;

function printed(units: number, format: ExactQuantity["format"]): string {
  return printQuantity({ nanos: nanos(units), format });
}

function nanos(units: number): bigint {
  return BigInt(Math.trunc(units)) * NANO;
}
