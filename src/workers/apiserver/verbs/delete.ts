// Delete: preconditions, the grace of pods, finalizers. A pod that has time left is only marked; who deletes it again
// may shorten that time; with none left it goes, and watches see both the mark and the end.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { isClaimUsed, unprotected } from "../kinds/claims.js";
import { strategyOf } from "../kinds/others.js";
import { badRequest, forbidden, notFound, preconditionConflict } from "../objects/errors.js";
import { copyOf, fieldsAt, isFields, textAt, timeText, type ApiObject, type Fields } from "../objects/object.js";
import { resourceNamed, RESOURCES } from "../objects/resources.js";
import { keyOf } from "../store/tables.js";
import type { Target, WriteContext } from "../world.js";

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

/** Propagation means nothing here: no object has dependents that a controller would delete. */
export function readDeleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const fields: Fields = isFields(body) ? body : {};
  const preconditions = fieldsAt(fields, "preconditions");
  const grace = fields["gracePeriodSeconds"] ?? query.get("gracePeriodSeconds") ?? undefined;
  const seconds = grace === undefined ? undefined : Number(grace);
  if (seconds !== undefined && !Number.isSafeInteger(seconds)) throw badRequest("gracePeriodSeconds is no integer");
  const [uid, resourceVersion] = [textAt(preconditions, "uid"), textAt(preconditions, "resourceVersion")];
  const isDry = Array.isArray(fields["dryRun"]) && fields["dryRun"].includes("All");
  return omitUndefined<DeleteOptions>({
    gracePeriodSeconds: seconds,
    uid,
    resourceVersion,
    dryRun: isDry ? true : undefined,
  });
}

export function deleteObject(target: Target, options: DeleteOptions, context: WriteContext): Deleted {
  const { resource, namespace, name } = target;
  const old = context.tx.get(resource, keyOf(namespace, name));
  if (old === undefined) throw notFound(resource, name);
  if (resource.key === "namespaces" && ["default", "kube-system", "kube-node-lease"].includes(name)) {
    throw forbidden(resource, name, "this namespace may not be deleted");
  }
  checkPreconditions(target, old, options);
  const isDry = context.dryRun || options.dryRun === true;
  const held = resource.key === "persistentvolumeclaims" && !isClaimUsed(old, context.tx) ? unprotected(old) : old;
  const marked = mark(target, held, graceOf(target, old, options), { ...context, dryRun: isDry });
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
  if (resource.key === "pods") endTerminating(namespace, context);
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
  if (["Failed", "Succeeded"].includes(textAt(status, "phase") ?? "")) return 0;
  const written = options.gracePeriodSeconds ?? spec?.["terminationGracePeriodSeconds"];
  const grace = typeof written === "number" ? written : 0;
  return grace < 0 ? 1 : grace;
}

/** Sets the deletion timestamp if the object needs one; returns the stored object. */
function mark({ resource }: Target, old: ApiObject, grace: number | undefined, context: WriteContext): ApiObject {
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
    deletionTimestamp = timeText(context.world.clock.now() + seconds * 1000);
  }
  const next = copyOf(old);
  next.metadata.deletionTimestamp = deletionTimestamp;
  next.metadata.deletionGracePeriodSeconds = seconds;
  if (before === undefined && metadata.generation !== undefined) next.metadata.generation = metadata.generation + 1;
  return context.dryRun ? next : context.tx.put(resource, next);
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

function emptyNamespace(name: string, context: WriteContext): boolean {
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
  const isLeft = context.tx.entries(resourceNamed("pods")).some(([key]) => key.startsWith(`${name}/`));
  if (isLeft || !emptyNamespace(name, context)) return;
  if (context.tx.get(namespaces, name) !== undefined) context.tx.remove(namespaces, name, namespace);
}
