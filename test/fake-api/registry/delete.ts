// Delete: preconditions, the grace of pods, finalizers. A pod that has time left is only marked; who deletes it again
// may shorten that time; with none left it goes, and watches see both the mark and the end.

import { notFound, preconditionConflict } from "../../../src/workers/apiserver/objects/errors.js";
import {
  copyOf,
  isFields,
  textAt,
  timeText,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import { admitDelete } from "../admission/chain.js";
import { resourceNamed, RESOURCES } from "../resources.js";
import { keyOf } from "../storage/store.js";
import { strategyOf } from "../strategies/table.js";
import type { Target, WriteContext } from "./request.js";

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  uid?: string;
  resourceVersion?: string;
  dryRun?: boolean;
}

export interface Deleted {
  object: ApiObject;
  /** False while it waits for its grace or its finalizers. */
  gone: boolean;
}

export function readDeleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const options: DeleteOptions = {};
  const fields: Fields = isFields(body) ? body : {};
  const grace = fields["gracePeriodSeconds"] ?? query.get("gracePeriodSeconds") ?? undefined;
  if (grace !== undefined) options.gracePeriodSeconds = Number(grace);
  const preconditions: Fields = isFields(fields["preconditions"]) ? fields["preconditions"] : {};
  const uid = textAt(preconditions, "uid");
  const resourceVersion = textAt(preconditions, "resourceVersion");
  if (uid !== undefined) options.uid = uid;
  if (Array.isArray(fields["dryRun"]) && fields["dryRun"].includes("All")) options.dryRun = true;
  if (resourceVersion !== undefined) options.resourceVersion = resourceVersion;
  return options;
}

export function deleteObject(target: Target, options: DeleteOptions, context: WriteContext): Deleted {
  const { resource, namespace, name } = target;
  const { world, dryRun } = context;
  const old = world.store.get(resource, keyOf(namespace, name));
  if (old === undefined) throw notFound(resource, name);
  admitDelete(target, old, context);
  checkPreconditions(target, old, options);
  const isDry = dryRun || options.dryRun === true;
  const grace = graceOf(target, old, options);
  const marked = mark(target, old, grace, { ...context, dryRun: isDry });
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

function checkPreconditions({ resource, name }: Target, { metadata }: ApiObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options;
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ""}). The object might have been deleted and then recreated`;
    throw preconditionConflict(resource, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ""}). The object might have been modified`;
    throw preconditionConflict(resource, name, why);
  }
}

/** Seconds; undefined where the kind knows no grace. */
function graceOf({ resource }: Target, { spec, status }: ApiObject, options: DeleteOptions): number | undefined {
  if (resource.key !== "pods") return undefined;
  const written = options.gracePeriodSeconds ?? spec?.["terminationGracePeriodSeconds"];
  if (textAt(spec, "nodeName") === undefined) return 0;
  if (["Failed", "Succeeded"].includes(textAt(status, "phase") ?? "")) return 0;
  const grace = typeof written === "number" ? written : 0;
  return grace < 0 ? 1 : grace;
}

/** Sets the deletion timestamp if the object needs one; returns the stored object. */
function mark(target: Target, old: ApiObject, grace: number | undefined, { world, dryRun }: WriteContext): ApiObject {
  const { metadata } = old;
  const before = metadata.deletionTimestamp;
  const seconds = grace ?? 0;
  let deletionTimestamp: string;
  if (before !== undefined) {
    const left = metadata.deletionGracePeriodSeconds ?? 0;
    if (left === 0 || grace === undefined || grace >= left) return old;
    deletionTimestamp = timeText(Date.parse(before) - left * 1000 + grace * 1000);
  } else {
    // Without grace and finalizers the object goes without being marked, unless its kind knows grace.
    if (grace === undefined && (metadata.finalizers ?? []).length === 0) return old;
    deletionTimestamp = timeText(world.clock.now() + seconds * 1000);
  }
  const next = copyOf(old);
  next.metadata.deletionTimestamp = deletionTimestamp;
  next.metadata.deletionGracePeriodSeconds = seconds;
  if (before === undefined && metadata.generation !== undefined) next.metadata.generation = metadata.generation + 1;
  return dryRun ? next : world.store.put(target.resource, next);
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
