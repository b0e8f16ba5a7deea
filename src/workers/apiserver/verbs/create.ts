// Create: in the order of upstream's server (identity, defaults, rules, storage), so that the same one of two broken
// rules is reported.

import { randomUUID } from "node:crypto";
import { quote } from "../../../shared/base/text/quote.js";
import { strategyOf } from "../kinds/others.js";
import { alreadyExists, ApiError, badRequest, forbidden, invalid, notFound } from "../objects/errors.js";
import { metadataErrors } from "../objects/metadata.js";
import { fillName, nameErrors } from "../objects/names.js";
import { copyOf, nowText, removeField, type ApiObject } from "../objects/object.js";
import { apiVersionOf, type Resource } from "../objects/resource.js";
import { resourceNamed } from "../objects/resources.js";
import { keyOf } from "../store/tables.js";
import type { Target, WriteContext } from "../world.js";
import { readObject } from "./read-object.js";

/** @param managed its managedFields are this server's; those of a client do not count */
export function createObject(target: Target, body: ApiObject, context: WriteContext, managed = false): ApiObject {
  const { resource, namespace } = target;
  const { world, tx, dryRun } = context;
  const object = copyOf(checkedBody(resource, body));
  readObject(object, context);
  const { metadata } = object;
  if (!managed) removeField(metadata, "managedFields");
  if (target.name !== "" && metadata.name === "") metadata.name = target.name;
  setNamespace(target, object);
  if (!["", "0", undefined].includes(metadata.resourceVersion)) {
    throw new ApiError(500, "", "resourceVersion should not be set on objects to be created");
  }
  fillName(metadata);
  const nameFaults = nameErrors(resource, metadata);
  if (nameFaults.length > 0) throw invalid(resource, metadata.name, nameFaults);
  checkOpenNamespace(target, metadata.name, context);
  for (const field of ["resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"]) {
    Reflect.deleteProperty(metadata, field);
  }
  metadata.uid = randomUUID();
  metadata.creationTimestamp = nowText(world.clock);
  if (resource.generation) metadata.generation = 1;
  if (resource.status && resource.resource !== "nodes") object.status = {};
  const strategy = strategyOf(resource);
  strategy.prepareCreate?.(object, context);
  const errors = [...metadataErrors(metadata), ...(strategy.validate?.(object) ?? [])];
  if (errors.length > 0) throw invalid(resource, metadata.name, errors);
  if (tx.get(resource, keyOf(namespace, metadata.name)) !== undefined) throw alreadyExists(resource, metadata.name);
  if (dryRun) return object;
  const stored = tx.put(resource, object);
  strategy.created?.(stored, context);
  return stored;
}

/** A body whose kind, where it says one, is that of the path. */
export function checkedBody(resource: Resource, body: ApiObject): ApiObject {
  const expected = apiVersionOf(resource);
  const { kind = "", apiVersion = "" } = body as Partial<ApiObject>;
  if ((kind !== "" && kind !== resource.kind) || (apiVersion !== "" && apiVersion !== expected)) {
    throw badRequest(
      `${kind} in version ${quote(apiVersion.split("/").at(-1) ?? "")} cannot be handled as a ${resource.kind}: ` +
        `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  return { ...body, kind: resource.kind, apiVersion: expected };
}

/** The object's namespace is that of the path. */
export function setNamespace({ resource, namespace }: Target, { metadata }: ApiObject): void {
  if (!resource.namespaced) {
    delete metadata.namespace;
    return;
  }
  if ((metadata.namespace ?? "") === "") metadata.namespace = namespace;
  if (metadata.namespace === namespace) return;
  throw badRequest(
    `the namespace of the provided object does not match the namespace sent on the request (${metadata.namespace ?? ""} vs. ${namespace})`,
  );
}

function checkOpenNamespace({ resource, namespace }: Target, name: string, { tx }: WriteContext): void {
  if (!resource.namespaced) return;
  const namespaces = resourceNamed("namespaces");
  const found = tx.get(namespaces, namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (found.metadata.deletionTimestamp === undefined || resource.key === "events") return;
  throw forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
}
