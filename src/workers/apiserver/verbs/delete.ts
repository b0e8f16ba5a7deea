// Delete: preconditions, the grace of pods, finalizers. A pod that has time left is only marked; who deletes it again
// may shorten that time; with none left it goes, and watches see both the mark and the end.

import { isClaimUsed, unprotected } from "../kinds/claims.js";
import { strategyOf } from "../kinds/others.js";
import { forbidden, notFound } from "../objects/errors.js";
import { copyOf, timeText, type ApiObject } from "../objects/object.js";
import { resourceNamed, RESOURCES } from "../objects/resources.js";
import { keyOf } from "../store/tables.js";
import type { Target, WriteContext } from "../world.js";
import { checkPreconditions, graceOf, markedForDeletion, type DeleteOptions } from "./delete-options.js";

export interface Deleted {
  object: ApiObject;
  /** False while it waits for its grace or its finalizers. */
  gone: boolean;
}

export function deleteObject(target: Target, options: DeleteOptions, context: WriteContext): Deleted {
  const { resource, namespace, name } = target;
  const old = context.tx.get(resource, keyOf(namespace, name));
  if (old === undefined) throw notFound(resource, name);
  if (resource.key === "namespaces" && ["default", "kube-system", "kube-node-lease"].includes(name)) {
    throw forbidden(resource, name, "this namespace may not be deleted");
  }
  checkPreconditions(resource, old, options);
  const isDry = context.dryRun || options.dryRun === true;
  const held = resource.key === "persistentvolumeclaims" && !isClaimUsed(old, context.tx) ? unprotected(old) : old;
  const next = markedForDeletion(held, graceOf(resource, old, options), context.world.clock.now());
  const marked = next === undefined ? held : isDry ? next : context.tx.put(resource, next);
  const { deletionGracePeriodSeconds: left = 0, finalizers = [] } = marked.metadata;
  if (left > 0 || finalizers.length > 0) return { object: marked, gone: false };
  if (isDry) return { object: marked, gone: true };
  if (resource.key === "namespaces") return endNamespace(target, marked, context);
  return { object: removeObject(target, marked, context), gone: true };
}

/** Takes an object out of the store as it stands in `last`. */
export function removeObject({ resource, namespace, name }: Target, last: ApiObject, context: WriteContext): ApiObject {
  const removed = context.tx.remove(resource, keyOf(namespace, name), last);
  strategyOf(resource).deleted?.(removed, context);
  if (resource.key === "pods" && context.isEmptying !== true) endTerminating(namespace, context);
  return removed;
}

/** Objects in the namespace are deleted first; pods with a grace period keep the namespace until they are removed. */
function endNamespace(target: Target, namespace: ApiObject, context: WriteContext): Deleted {
  const next = copyOf(namespace);
  next.metadata.deletionTimestamp ??= timeText(context.world.clock.now());
  next.status = { phase: "Terminating" };
  const stored = context.tx.put(target.resource, next);
  if (emptyNamespace(target.name, context)) context.tx.remove(target.resource, target.name, stored);
  return { object: stored, gone: false };
}

function emptyNamespace(name: string, given: WriteContext): boolean {
  const context: WriteContext = { ...given, isEmptying: true };
  let isEmpty = true;
  for (const resource of RESOURCES.filter(({ namespaced }) => namespaced)) {
    for (const [key, object] of context.tx.entries(resource)) {
      if (!key.startsWith(`${name}/`)) continue;
      isEmpty = deleteObject({ resource, namespace: name, name: object.metadata.name }, {}, context).gone && isEmpty;
    }
  }
  return isEmpty;
}

/** With its last pod a namespace that waits for its pods goes. */
function endTerminating(name: string, context: WriteContext): void {
  const namespaces = resourceNamed("namespaces");
  const namespace = context.tx.get(namespaces, name);
  if (namespace?.status?.["phase"] !== "Terminating") return;
  for (const key of context.tx.keys(resourceNamed("pods"))) if (key.startsWith(`${name}/`)) return;
  if (!emptyNamespace(name, context)) return;
  if (context.tx.get(namespaces, name) !== undefined) context.tx.remove(namespaces, name, namespace);
}
