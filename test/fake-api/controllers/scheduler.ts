// A small scheduler. A pending pod goes to the first Ready node with tolerated taints and the labels of its selector.
// It looks again whenever a pod or a node changes.

import {
  copyOf,
  fieldsAt,
  listAt,
  nowText,
  textAt,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import { resourceNamed } from "../resources.js";
import { keyOf } from "../storage/store.js";
import { bindPod } from "../subresources/pods.js";
import { SYSTEM, type World } from "../world.js";

export function watchAndSchedule(world: World): () => void {
  const [pods, nodes] = [resourceNamed("pods"), resourceNamed("nodes")];
  let isAsked = false;
  let isStopped = false;
  const look = (): void => {
    if (isAsked) return;
    isAsked = true;
    // After the change that caused it, so that watches see the pod before its binding.
    setImmediate(() => {
      isAsked = false;
      if (!isStopped) scheduleAll(world);
    });
  };
  const releases = [world.store.subscribe(pods, look), world.store.subscribe(nodes, look)];
  look();
  return () => {
    isStopped = true;
    for (const release of releases) release();
  };
}

function scheduleAll(world: World): void {
  const pods = resourceNamed("pods");
  const nodes = world.store.entries(resourceNamed("nodes")).map(([, node]) => node);
  for (const [, pod] of world.store.entries(pods)) {
    if (!isWaiting(pod)) continue;
    const target = nodes.find((node) => fits(pod, node));
    if (target === undefined) {
      reportUnschedulable(world, pod, nodes.length);
      continue;
    }
    const { name, namespace = "", uid = "" } = pod.metadata;
    const body: ApiObject = {
      kind: "Binding",
      apiVersion: "v1",
      metadata: { name, namespace, uid },
      target: { kind: "Node", name: target.metadata.name },
    };
    bindPod({ resource: pods, namespace, name }, body, { world, user: SYSTEM, dryRun: false });
  }
}

function isWaiting({ spec, metadata }: ApiObject): boolean {
  const isOurs = textAt(spec, "schedulerName") === "default-scheduler" && listAt(spec, "schedulingGates").length === 0;
  return isOurs && textAt(spec, "nodeName") === undefined && metadata.deletionTimestamp === undefined;
}

function fits(pod: ApiObject, node: ApiObject): boolean {
  const ready = listAt(node.status, "conditions").find(({ type }) => type === "Ready");
  if (ready?.["status"] !== "True") return false;
  const taints = listAt(node.spec, "taints");
  if (node.spec?.["unschedulable"] === true) {
    taints.push({ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" });
  }
  const hard = taints.filter(({ effect }) => effect === "NoSchedule" || effect === "NoExecute");
  const tolerations = listAt(pod.spec, "tolerations");
  if (!hard.every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)))) return false;
  const labels = node.metadata.labels ?? {};
  return Object.entries(fieldsAt(pod.spec, "nodeSelector")).every(([key, value]) => labels[key] === value);
}

function tolerates(toleration: Fields, taint: Fields): boolean {
  const effect = textAt(toleration, "effect");
  if (effect !== undefined && effect !== taint["effect"]) return false;
  const key = textAt(toleration, "key");
  const exists = textAt(toleration, "operator") === "Exists";
  if (key === undefined) return exists;
  return key === taint["key"] && (exists || (toleration["value"] ?? "") === (taint["value"] ?? ""));
}

function reportUnschedulable(world: World, pod: ApiObject, nodes: number): void {
  const conditions = listAt(pod.status, "conditions");
  if (conditions.some(({ type, status }) => type === "PodScheduled" && status === "False")) return;
  const next = copyOf(pod);
  const message = `0/${nodes} nodes are available.`;
  const condition = {
    type: "PodScheduled",
    status: "False",
    reason: "Unschedulable",
    message,
    lastProbeTime: null,
    lastTransitionTime: nowText(world.clock),
  };
  next.status = {
    ...next.status,
    conditions: [...conditions.filter(({ type }) => type !== "PodScheduled"), condition],
  };
  if (world.store.get(resourceNamed("pods"), keyOf(pod.metadata.namespace, pod.metadata.name)) === pod) {
    world.store.put(resourceNamed("pods"), next);
  }
}
