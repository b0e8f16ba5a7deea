// Resizes that can never be done here, even if other pods leave the node. Pure.

import { podRequests, sumOf } from "../../../shared/kubernetes/api/pod-requests.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../shared/kubernetes/api/qos.js";
import { milliValue, value } from "../../../shared/kubernetes/api/quantity.js";
import { featuresToUpdate, type DeclarableFeature } from "../../model/declared-features.js";
import { changedResources, resourcesOf, type Resizable } from "../../model/pod-resources.js";
import type { NodeResources } from "../node-capacity.js";

/** The resizes that the node's settings allow; gates have upstream's names without their common prefix. */
export interface ResizeRules {
  /** InPlacePodLevelResourcesVerticalScaling */
  podLevel: boolean;
  /** InPlacePodVerticalScalingExclusiveCPUs, ...ExclusiveMemory */
  exclusiveCPUs: boolean;
  exclusiveMemory: boolean;
  /** The policies are static: guaranteed pods have exclusive CPUs or memory. */
  staticCPUs: boolean;
  staticMemory: boolean;
  /** Burstable containers may swap (memorySwap.swapBehavior LimitedSwap). */
  limitedSwap: boolean;
  /** undefined: they are not checked. */
  declaredFeatures: readonly DeclarableFeature[] | undefined;
}

export interface Infeasible {
  message: string;
  /** Label value of kubelet_pod_infeasible_resizes_total. */
  detail: string;
}

/** Why the resize from `allocated` to `desired` can't ever be; undefined: it can, once there is room. */
export function infeasible(desired: Pod, allocated: Pod, rules: ResizeRules): Infeasible | undefined {
  if (qosClass(desired) !== qosClass(allocated)) {
    const [from, to] = [qosClass(allocated), qosClass(desired)];
    return { message: `Pod QoS class may not change as a result of resizing: ${from} to ${to}`, detail: "qos_class" };
  }
  if (!rules.podLevel && changedResources(allocated.spec.resources, desired.spec.resources).length > 0) {
    return { message: "In-place resize of pod-level resources is disabled", detail: "plr_feature_gate_off" };
  }
  return swapRefusal(desired, allocated, rules) ?? guaranteedRefusal(desired, allocated, rules);
}

/** The features that the update of a pod needs and the node does not declare. */
export function featuresMissingFor(before: Pod, after: Pod, { declaredFeatures }: ResizeRules): DeclarableFeature[] {
  if (declaredFeatures === undefined) return [];
  return featuresToUpdate(before, after).filter((feature) => !declaredFeatures.includes(feature));
}

/** A container that swaps can't have its memory changed while it runs. */
function swapRefusal(desired: Pod, allocated: Pod, { limitedSwap }: ResizeRules): Infeasible | undefined {
  if (!limitedSwap || qosClass(allocated) !== "Burstable") return undefined;
  const before = resourcesOf(allocated).containers;
  const after = resourcesOf(desired).containers;
  for (const { name, resizePolicy = [] } of [...desired.spec.containers, ...(desired.spec.initContainers ?? [])]) {
    if (!changedResources(before[name], after[name]).includes("memory")) continue;
    const policy = resizePolicy.find(({ resourceName }) => resourceName === "memory");
    if (policy?.restartPolicy === "RestartContainer") continue;
    return {
      message: "In-place resize of containers with swap is not supported.",
      detail: "swap_limitation",
    };
  }
  return undefined;
}

function guaranteedRefusal(desired: Pod, allocated: Pod, rules: ResizeRules): Infeasible | undefined {
  if (qosClass(allocated) !== "Guaranteed") return undefined;
  if (rules.staticCPUs && !rules.exclusiveCPUs && requestsChange(desired, allocated, "cpu")) {
    return {
      message: 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"',
      detail: "guaranteed_pod_cpu_manager_static_policy",
    };
  }
  if (rules.staticMemory && !rules.exclusiveMemory && requestsChange(desired, allocated, "memory")) {
    return {
      message: 'Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"',
      detail: "guaranteed_pod_memory_manager_static_policy",
    };
  }
  return undefined;
}

function requestsChange(desired: Pod, allocated: Pod, resource: Resizable): boolean {
  const [before, after] = [resourcesOf(allocated).containers, resourcesOf(desired).containers];
  return Object.keys(after).some((name) => changedResources(before[name], after[name]).includes(resource));
}

/** More than the whole node has: no pod that leaves makes room for it. */
export function beyondNode(desired: Pod, allocatable: NodeResources): Infeasible | undefined {
  const requests = podRequests(desired);
  const detail = "insufficient_node_allocatable";
  const amount = { cpu: milliValue, memory: value };
  for (const name of ["memory", "cpu"] as const) {
    const capacity = allocatable.get(name);
    const asked = sumOf(requests, name);
    if (capacity === undefined || asked.nanos <= capacity.nanos) continue;
    const figures = `requested: ${amount[name](asked)}, capacity: ${amount[name](capacity)}`;
    return { message: `Node didn't have enough capacity: ${name}, ${figures}`, detail };
  }
  return undefined;
}

/** Does the resize request more CPU or memory than the pod has? */
export function raisesRequests(desired: Pod, allocated: Pod): boolean {
  const [before, after] = [podRequests(allocated), podRequests(desired)];
  return ["cpu", "memory"].some((name) => sumOf(after, name).nanos > sumOf(before, name).nanos);
}

export interface Waiting {
  desired: Pod;
  allocated: Pod;
  /** Milliseconds since the epoch. */
  since: number;
}

/**
 * The order of retries of pending resizes. Those without an increase come first, then priority, QoS class Guaranteed
 * and waiting time decide.
 */
export function byTurn(a: Waiting, b: Waiting): number {
  const rank = ({ desired, allocated }: Waiting): number[] => [
    raisesRequests(desired, allocated) ? 1 : 0,
    -(desired.spec.priority ?? 0),
    qosClass(desired) === "Guaranteed" ? 0 : 1,
  ];
  const [left, right] = [rank(a), rank(b)];
  const first = left.findIndex((value, index) => value !== right[index]);
  return first < 0 ? a.since - b.since : (left[first] ?? 0) - (right[first] ?? 0);
}
