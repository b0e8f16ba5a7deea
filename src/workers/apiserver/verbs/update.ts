// Update and patch: optimistic concurrency, what a subresource may change, generations, and the end of objects whose
// last finalizer goes. A change that changes nothing writes nothing.

import { strategyOf } from "../kinds/others.js";
import { badRequest, conflict, FieldError, invalid, MODIFIED, notFound } from "../objects/errors.js";
import { metadataErrors } from "../objects/metadata.js";
import { copyOf, isSame, removeField, type ApiObject } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import { dropChanged } from "../patch/ownership.js";
import { keyOf } from "../store/tables.js";
import type { Target, WriteContext } from "../world.js";
import { checkedBody, createObject, setNamespace } from "./create.js";
import { removeObject } from "./delete.js";
import { readObject } from "./read-object.js";

const SERVER_FIELDS = ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"];

/** @param change gets a copy of the stored object and returns the new one; with `managed` its managedFields count */
export function updateObject(
  target: Target,
  subresource: string,
  change: (old: ApiObject) => ApiObject,
  context: WriteContext,
  managed = false,
): ApiObject {
  const { resource, namespace, name } = target;
  const { tx, dryRun } = context;
  const old = tx.get(resource, keyOf(namespace, name));
  if (old === undefined) throw notFound(resource, name);
  const wanted = checkedBody(resource, change(copyOf(old)));
  readObject(wanted, context);
  setNamespace(target, wanted);
  checkIdentity(resource, wanted, old, name);
  const next = merged(resource, wanted, old, subresource);
  if (!managed) dropChanged(next, old);
  const strategy = strategyOf(resource);
  strategy.prepareUpdate?.(next, old, subresource);
  if (resource.generation && subresource !== "status" && !isSame(specOf(next), specOf(old))) {
    next.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  const errors = [
    ...(strategy.validateUpdate?.(next, old, subresource) ?? []),
    ...(subresource === "status" ? [] : (strategy.validate?.(next) ?? [])),
    ...metadataErrors(next.metadata),
  ];
  if (errors.length > 0) throw invalid(resource, name, errors);
  if (isSame(next, old)) return old;
  if (dryRun) return next;
  const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = next.metadata;
  const isOver = deletionTimestamp !== undefined && finalizers.length === 0 && deletionGracePeriodSeconds === 0;
  if (isOver && (old.metadata.finalizers ?? []).length > 0) return removeObject(target, next, context);
  return tx.put(resource, next, strategy.isFleeting?.(next, old) ?? false);
}

/** PUT: the whole object; makes it where the resource allows that. */
export function replaceObject(
  target: Target,
  subresource: string,
  body: ApiObject,
  context: WriteContext,
): { object: ApiObject; created: boolean } {
  const { resource, namespace, name } = target;
  const isThere = context.tx.get(resource, keyOf(namespace, name)) !== undefined;
  if (!isThere && subresource === "" && resource.createOnUpdate) {
    return { object: createObject(target, body, context), created: true };
  }
  if (!resource.unconditional && (body.metadata.resourceVersion ?? "") === "") {
    const error = FieldError.invalid("metadata.resourceVersion", 0, "must be specified for an update");
    throw invalid(resource, name, [error]);
  }
  return { object: updateObject(target, subresource, () => copyOf(body), context), created: false };
}

function checkIdentity(resource: Resource, { metadata }: ApiObject, old: ApiObject, name: string): void {
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  const { uid = "", resourceVersion = "" } = metadata;
  if (uid !== "" && uid !== old.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid ?? ""}`;
    throw conflict(resource, name, why);
  }
  if (!["", "0", old.metadata.resourceVersion].includes(resourceVersion)) throw conflict(resource, name, MODIFIED);
}

/** The fields of the stored object that the caller may change. */
function merged(resource: Resource, wanted: ApiObject, old: ApiObject, subresource: string): ApiObject {
  const isStatus = subresource === "status";
  const next: ApiObject = isStatus ? { ...copyOf(old), metadata: wanted.metadata } : wanted;
  if (resource.status) {
    const status = isStatus ? wanted.status : copyOf(old.status);
    if (status === undefined) removeField(next, "status");
    else next.status = status;
  }
  for (const field of [...SERVER_FIELDS, "resourceVersion"]) {
    if (old.metadata[field] === undefined) removeField(next.metadata, field);
    else next.metadata[field] = old.metadata[field];
  }
  for (const field of ["finalizers", "ownerReferences", "labels", "annotations"]) {
    const held = next.metadata[field];
    if (typeof held === "object" && held !== null && Object.keys(held).length === 0) removeField(next.metadata, field);
  }
  return next;
}

/** All that is neither metadata nor status. */
function specOf(object: ApiObject): unknown {
  return { ...object, metadata: undefined, status: undefined };
}
