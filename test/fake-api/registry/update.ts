// Update and patch: optimistic concurrency, what a subresource may change, generations, and the end of objects whose
// last finalizer goes. A change that changes nothing writes nothing.

import {
  badRequest,
  conflict,
  FieldError,
  invalid,
  MODIFIED,
  notFound,
} from "../../../src/workers/apiserver/objects/errors.js";
import { metadataErrors } from "../../../src/workers/apiserver/objects/metadata.js";
import {
  copyOf,
  isSame,
  removeField,
  withoutNulls,
  type ApiObject,
} from "../../../src/workers/apiserver/objects/object.js";
import { admitUpdate } from "../admission/chain.js";
import type { Resource } from "../resources.js";
import { keyOf } from "../storage/store.js";
import { toStored, toView } from "../storage/views.js";
import { undecodable, undecodablePatch } from "../strategies/decode.js";
import { strategyOf } from "../strategies/table.js";
import { checkedBody, checkNamespace, createObject } from "./create.js";
import { removeObject } from "./delete.js";
import type { Target, WriteContext } from "./request.js";

export interface Updated {
  object: ApiObject;
  created: boolean;
}

const SERVER_FIELDS = ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"];

/** `change` gets a copy of the stored object and returns the new one. */
export function updateObject(
  target: Target,
  subresource: string,
  change: (old: ApiObject) => ApiObject,
  context: WriteContext,
  how: "put" | "patch" = "patch",
): ApiObject {
  const { resource, namespace, name } = target;
  const { world, dryRun } = context;
  const old = world.store.get(resource, keyOf(namespace, name));
  if (old === undefined) throw notFound(resource, name);
  const changed = withoutNulls(change(copyOf(toView(resource, old))));
  const wanted = toStored(resource, checkedBody(resource, changed));
  const unreadable = how === "put" ? undecodable(resource, wanted) : undecodablePatch(resource, wanted, "map[]");
  if (unreadable !== undefined) throw unreadable;
  checkNamespace(resource, namespace, wanted);
  checkIdentity(resource, wanted, old, name, how);
  const next = merged(resource, wanted, old, subresource);
  const strategy = strategyOf(resource);
  strategy.defaults?.(next);
  strategy.prepareUpdate?.(next, old, subresource, world);
  admitUpdate(target, subresource, next, old, context);
  if (resource.generation && subresource !== "status" && !isSame(specOf(next), specOf(old))) {
    next.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  const errors = strategy.validateUpdate?.(next, old, subresource, world) ?? [];
  if (subresource !== "status") errors.push(...(strategy.validate?.(next) ?? []));
  errors.push(...metadataErrors(next.metadata), ...finalizerErrors(next, old));
  if (errors.length > 0) throw invalid(resource, name, errors);

  if (isSame(next, old)) return old;
  if (dryRun) return next;
  const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = next.metadata;
  const isOver = deletionTimestamp !== undefined && finalizers.length === 0 && deletionGracePeriodSeconds === 0;
  if (isOver && (old.metadata.finalizers ?? []).length > 0) return removeObject(target, next, context);
  const stored = world.store.put(resource, next);
  strategy.updated?.(stored, world);
  return stored;
}

/** PUT: the whole object; makes it where the resource allows that. */
export function replaceObject(target: Target, subresource: string, body: ApiObject, context: WriteContext): Updated {
  const { resource, namespace, name } = target;
  if (context.world.store.get(resource, keyOf(namespace, name)) === undefined && subresource === "") {
    if (resource.createOnUpdate) return { object: createObject(target, body, context), created: true };
  }
  const change = (): ApiObject => {
    const copy = copyOf(body);
    if (!resource.unconditional && (copy.metadata.resourceVersion ?? "") === "") {
      const error = FieldError.invalid("metadata.resourceVersion", 0, "must be specified for an update");
      throw invalid({ group: resource.group, kind: resource.resource }, name, [error]);
    }
    return copy;
  };
  return { object: updateObject(target, subresource, change, context, "put"), created: false };
}

function checkIdentity(
  resource: Resource,
  wanted: ApiObject,
  old: ApiObject,
  name: string,
  how: "put" | "patch",
): void {
  const { metadata } = wanted;
  if (metadata.name === "") {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  if (metadata.uid !== undefined && metadata.uid !== "" && metadata.uid !== old.metadata.uid) {
    // Of a PUT it is a precondition, of a patch a change.
    const error = FieldError.invalid("metadata.uid", metadata.uid, "field is immutable");
    if (how === "patch") throw invalid(resource, name, [error, error]);
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${old.metadata.uid ?? ""}`;
    const key = `/registry/${resource.resource}/${keyOf(old.metadata.namespace, name)}`;
    const message = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
    throw conflict(resource, name, message);
  }
  const version = metadata.resourceVersion ?? "";
  if (version !== "" && version !== "0" && version !== old.metadata.resourceVersion) {
    throw conflict(resource, name, MODIFIED);
  }
}

/** The fields of the stored object that the caller may change. */
function merged(resource: Resource, wanted: ApiObject, old: ApiObject, subresource: string): ApiObject {
  const isStatus = subresource === "status";
  const next: ApiObject = isStatus ? { ...copyOf(old), metadata: wanted.metadata } : wanted;
  if (resource.status) {
    const status = isStatus || subresource === "approval" ? wanted.status : copyOf(old.status);
    if (status === undefined) removeField(next, "status");
    else next.status = status;
  }
  for (const field of SERVER_FIELDS) {
    if (old.metadata[field] === undefined) removeField(next.metadata, field);
    else next.metadata[field] = old.metadata[field];
  }
  next.metadata.resourceVersion = old.metadata.resourceVersion ?? "";
  removeField(next.metadata, "managedFields");
  for (const list of ["finalizers", "ownerReferences"] as const) {
    if (next.metadata[list]?.length === 0) removeField(next.metadata, list);
  }
  for (const map of ["labels", "annotations"] as const) {
    const held = next.metadata[map];
    if (held !== undefined && Object.keys(held).length === 0) removeField(next.metadata, map);
  }
  return next;
}

/** All that is neither metadata nor status. */
function specOf(object: ApiObject): unknown {
  return { ...object, metadata: undefined, status: undefined };
}

function finalizerErrors(next: ApiObject, old: ApiObject): FieldError[] {
  if (old.metadata.deletionTimestamp === undefined) return [];
  const added = (next.metadata.finalizers ?? []).filter((one) => !(old.metadata.finalizers ?? []).includes(one));
  if (added.length === 0) return [];
  const list = added.map((one) => `"${one}"`).join(", ");
  const text = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  const error = FieldError.forbidden("metadata.finalizers", text);
  return [error, error];
}
