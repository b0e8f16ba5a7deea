// pods/binding and pods/eviction.

import {
  ApiError,
  badRequest,
  conflict,
  notFound,
  tooManyRequests,
} from "../../../src/workers/apiserver/objects/errors.js";
import {
  copyOf,
  fieldsAt,
  listAt,
  nowText,
  textAt,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import { readDeleteOptions } from "../../../src/workers/apiserver/verbs/delete-options.js";
import { deleteObject } from "../registry/delete.js";
import type { Target, WriteContext } from "../registry/request.js";
import { resourceNamed } from "../resources.js";
import { keyOf } from "../storage/store.js";
import { canonicalStatus } from "./status.js";

const VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget.";

/** Binds a pod to a node, once. */
export function bindPod(target: Target, body: ApiObject, { world, dryRun }: WriteContext): Fields {
  const { resource, namespace, name } = target;
  const pod = world.store.get(resource, keyOf(namespace, name));
  if (pod === undefined) throw notFound(resource, name);
  const node = textAt(fieldsAt(body, "target"), "name");
  if (node === undefined) throw new ApiError(500, "", "target.name: Required value");
  const uid = textAt(body.metadata, "uid");
  const refuse = (why: string): Error => conflict({ ...resource, resource: "pods/binding" }, name, why);
  if (uid !== undefined && uid !== pod.metadata.uid) {
    throw refuse(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid ?? ""}`);
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  }
  const bound = textAt(pod.spec, "nodeName");
  if (bound !== undefined) throw refuse(`pod ${name} is already assigned to node "${bound}"`);
  if (listAt(pod.spec, "schedulingGates").length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  const next = copyOf(pod);
  next.spec = { ...next.spec, nodeName: node };
  const conditions = listAt(next.status, "conditions").filter(({ type }) => type !== "PodScheduled");
  const scheduled: Fields = {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: nowText(world.clock),
  };
  next.status = { ...next.status, conditions: [...conditions, scheduled] };
  const { annotations } = body.metadata;
  if (annotations !== undefined) next.metadata.annotations = { ...next.metadata.annotations, ...annotations };
  if (!dryRun) world.store.put(resource, next);
  return canonicalStatus(201);
}

/** Deletes a pod unless a disruption budget forbids it. */
export function evictPod(target: Target, body: ApiObject, context: WriteContext): Fields {
  const { resource, namespace, name } = target;
  const { world } = context;
  const pod = world.store.get(resource, keyOf(namespace, name));
  if (pod === undefined) throw notFound(resource, name);
  if (body.metadata.name !== "" && body.metadata.name !== name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  const isOver = ["Succeeded", "Failed", "Pending"].includes(textAt(pod.status, "phase") ?? "");
  if (!isOver && pod.metadata.deletionTimestamp === undefined) checkBudgets(pod, context);
  const options = readDeleteOptions(fieldsAt(body, "deleteOptions"), new URLSearchParams());
  if (!context.dryRun && options.dryRun !== true) markDisruption(target, pod, context);
  deleteObject(target, { uid: pod.metadata.uid ?? "", ...options }, context);
  return canonicalStatus(201);
}

function markDisruption({ resource }: Target, pod: ApiObject, { world }: WriteContext): void {
  const next = copyOf(pod);
  const condition: Fields = {
    type: "DisruptionTarget",
    status: "True",
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
    lastProbeTime: null,
    lastTransitionTime: nowText(world.clock),
  };
  const others = listAt(next.status, "conditions").filter(({ type }) => type !== condition["type"]);
  next.status = { ...next.status, conditions: [...others, condition] };
  world.store.put(resource, next);
}

function checkBudgets(pod: ApiObject, { world }: WriteContext): void {
  const resource = resourceNamed("poddisruptionbudgets");
  const labels = pod.metadata.labels ?? {};
  for (const [, budget] of world.store.entries(resource)) {
    if (budget.metadata.namespace !== pod.metadata.namespace) continue;
    const wanted = Object.entries(fieldsAt(fieldsAt(budget.spec, "selector"), "matchLabels"));
    if (!wanted.every(([key, value]) => labels[key] === value)) continue;
    const allowed = budget.status?.["disruptionsAllowed"];
    if (typeof allowed === "number" && allowed > 0) {
      const next = copyOf(budget);
      next.status = { ...next.status, disruptionsAllowed: allowed - 1 };
      world.store.put(resource, next);
      continue;
    }
    const refusal = tooManyRequests(VIOLATION, 0);
    const { desiredHealthy, currentHealthy } = budget.status ?? {};
    const counts = `needs ${Number(desiredHealthy)} healthy pods and has ${Number(currentHealthy)} currently`;
    const message = `The disruption budget ${budget.metadata.name} ${counts}`;
    throw new ApiError(429, refusal.reason, VIOLATION, { causes: [{ reason: "DisruptionBudget", message }] });
  }
}
