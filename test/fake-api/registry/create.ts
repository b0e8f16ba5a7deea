// Create: in the order of a real server (defaults, admission, preparation by the resource, validation, storage), so
// that the same one of two broken rules is reported.

import { randomUUID } from "node:crypto";
import { alreadyExists, ApiError, badRequest, invalid } from "../../../src/workers/apiserver/objects/errors.js";
import { metadataErrors } from "../../../src/workers/apiserver/objects/metadata.js";
import { fillName, nameErrors } from "../../../src/workers/apiserver/objects/names.js";
import { copyOf, nowText, withoutNulls, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { admitCreate } from "../admission/chain.js";
import { apiVersionOf, type Resource } from "../resources.js";
import { keyOf } from "../storage/store.js";
import { toStored } from "../storage/views.js";
import { undecodable } from "../strategies/decode.js";
import { strategyOf } from "../strategies/table.js";
import type { Target, WriteContext } from "./request.js";

export function createObject(target: Target, body: ApiObject, context: WriteContext): ApiObject {
  const { resource, namespace } = target;
  const { world, user, dryRun } = context;
  const object = toStored(resource, checkedBody(resource, withoutNulls(copyOf(body))));
  const unreadable = undecodable(resource, object);
  if (unreadable !== undefined) throw unreadable;
  const { metadata } = object;
  if (target.name !== "" && metadata.name === "") metadata.name = target.name;
  checkNamespace(resource, namespace, object);
  if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== "" && metadata.resourceVersion !== "0") {
    throw new ApiError(500, "", "resourceVersion should not be set on objects to be created");
  }
  const strategy = strategyOf(resource);
  strategy.defaults?.(object);
  fillName(metadata);
  admitCreate({ ...target, name: metadata.name }, object, context);

  for (const field of ["resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"]) {
    Reflect.deleteProperty(metadata, field);
  }
  delete metadata["managedFields"];
  metadata.uid = randomUUID();
  metadata.creationTimestamp = nowText(world.clock);
  if (resource.generation) metadata.generation = 1;
  else delete metadata.generation;
  if (resource.status && resource.resource !== "nodes") object.status = {};
  strategy.prepareCreate?.(object, world, user);

  const errors = [
    ...nameErrors(resource, metadata),
    ...metadataErrors(metadata),
    ...(strategy.validate?.(object) ?? []),
  ];
  if (errors.length > 0) throw invalid(resource, metadata.name, errors);
  if (world.store.get(resource, keyOf(namespace, metadata.name)) !== undefined) {
    throw alreadyExists(resource, metadata.name);
  }
  if (dryRun) return object;
  const stored = world.store.put(resource, object);
  strategy.created?.(stored, world);
  return stored;
}

/** A body whose kind, where it says one, is that of the path. */
export function checkedBody(resource: Resource, body: ApiObject): ApiObject {
  const { kind, apiVersion, metadata, ...rest } = body as Partial<ApiObject>;
  const expected = apiVersionOf(resource);
  if (apiVersion !== undefined && apiVersion !== "" && apiVersion !== expected) {
    const message = `no kind "${kind ?? ""}" is registered for version "${apiVersion}" in scheme "pkg/api/legacyscheme/scheme.go:30"`;
    throw badRequest(`${resource.kind} in version "${apiVersion}" cannot be handled as a ${resource.kind}: ${message}`);
  }
  if (kind !== undefined && kind !== "" && kind !== resource.kind) {
    const conversion = `converting (v1.${kind}) to (core.${resource.kind}): unknown conversion`;
    throw badRequest(`${kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${conversion}`);
  }
  const filled = { ...metadata, name: metadata?.name ?? "" };
  return { kind: resource.kind, apiVersion: expected, metadata: filled, ...rest };
}

export function checkNamespace(resource: Resource, namespace: string, { metadata }: ApiObject): void {
  if (!resource.namespaced) {
    if ((metadata.namespace ?? "") === "") delete metadata.namespace;
    return;
  }
  if ((metadata.namespace ?? "") === "") metadata.namespace = namespace;
  if (metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}
