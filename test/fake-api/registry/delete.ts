// Delete: preconditions, the grace of pods, finalizers. A pod that has time left is only marked; who deletes it again
// may shorten that time; with none left it goes, and watches see both the mark and the end.

import { notFound } from "../../../src/workers/apiserver/objects/errors.js";
import { copyOf, textAt, timeText, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import {
  checkPreconditions,
  graceOf,
  markedForDeletion,
  type DeleteOptions,
} from "../../../src/workers/apiserver/verbs/delete-options.js";
import { admitDelete } from "../admission/chain.js";
import { resourceNamed, RESOURCES } from "../resources.js";
import { keyOf } from "../storage/store.js";
import { strategyOf } from "../strategies/table.js";
import type { Target, WriteContext } from "./request.js";

export interface Deleted {
  object: ApiObject;
  /** False while it waits for its grace or its finalizers. */
  gone: boolean;
}

export function deleteObject(target: Target, options: DeleteOptions, context: WriteContext): Deleted {
  const { resource, namespace, name } = target;
  const { world, dryRun } = context;
  const old = world.store.get(resource, keyOf(namespace, name));
  if (old === undefined) throw notFound(resource, name);
  admitDelete(target, old, context);
  checkPreconditions(resource, old, options);
  const isDry = dryRun || options.dryRun === true;
  // A pod that no node has goes at once.
  const isPlaced = resource.key !== "pods" || textAt(old.spec, "nodeName") !== undefined;
  const next = markedForDeletion(old, isPlaced ? graceOf(resource, old, options) : 0, world.clock.now());
  const marked = next === undefined ? old : isDry ? next : world.store.put(resource, next);
  const { metadata } = marked;
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0 || (metadata.finalizers ?? []).length > 0) {
    return { object: marked, gone: false };
  }
  if (isDry) return { object: marked, gone: true };
  if (resource.resource === "namespaces") return endNamespace(target, marked, context);
  return { object: removeObject(target, marked, context), gone: true };
}

/** Takes an object out of storage as it stands in `last`. */
export function removeObject(
  { resource, namespace, name }: Target,
  last: ApiObject,
  { world }: WriteContext,
): ApiObject {
  const removed = world.store.remove(resource, keyOf(namespace, name), last) ?? last;
  strategyOf(resource).deleted?.(removed, world);
  return removed;
}

/** Objects in the namespace are deleted first; pods with a grace period keep the namespace until they are removed. */
function endNamespace(target: Target, namespace: ApiObject, context: WriteContext): Deleted {
  const { world } = context;
  const { name } = target;
  if (namespace.status?.["phase"] !== "Terminating") {
    const next = copyOf(namespace);
    next.metadata.deletionTimestamp = timeText(world.clock.now());
    next.status = { phase: "Terminating" };
    namespace = world.store.put(target.resource, next);
  }
  const isEmpty = emptyNamespace(name, context);
  if (!isEmpty) {
    const pods = resourceNamed("pods");
    const release = world.store.subscribe(pods, () => {
      if (world.store.entries(pods).some(([key]) => key.startsWith(`${name}/`))) return;
      release();
      if (emptyNamespace(name, context)) removeObject(target, namespace, context);
    });
    return { object: namespace, gone: false };
  }
  removeObject(target, namespace, context);
  return { object: namespace, gone: false };
}

function emptyNamespace(name: string, context: WriteContext): boolean {
  const { world } = context;
  let isEmpty = true;
  for (const resource of RESOURCES) {
    if (!resource.namespaced || resource.storage !== resource.key) continue;
    for (const [key, object] of world.store.entries(resource)) {
      if (!key.startsWith(`${name}/`)) continue;
      const target = { resource, namespace: name, name: object.metadata.name };
      isEmpty = deleteObject(target, {}, context).gone && isEmpty;
    }
  }
  return isEmpty;
}
