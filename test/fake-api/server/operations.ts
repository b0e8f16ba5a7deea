// Operations of an authorised request: one function per verb, and the subresources that are actions.

import {
  badRequest,
  methodNotAllowed,
  noSuchResource,
  notFound,
} from "../../../src/workers/apiserver/objects/errors.js";
import type { ApiObject, Fields } from "../../../src/workers/apiserver/objects/object.js";
import type { RequestInfo } from "../../../src/workers/apiserver/objects/request-info.js";
import { patchFor } from "../../../src/workers/apiserver/patch/patch-for.js";
import { readDeleteOptions, type DeleteOptions } from "../../../src/workers/apiserver/verbs/delete-options.js";
import { review } from "../access/reviews.js";
import { createObject } from "../registry/create.js";
import { deleteObject } from "../registry/delete.js";
import type { Target, WriteContext } from "../registry/request.js";
import { replaceObject, updateObject } from "../registry/update.js";
import { REVIEWS, type Resource } from "../resources.js";
import { objectText } from "../storage/encode.js";
import { keyOf } from "../storage/store.js";
import { bindPod, evictPod } from "../subresources/pods.js";
import { canonicalStatus } from "../subresources/status.js";
import { requestToken } from "../subresources/tokens.js";
import { list, selected } from "../verbs/list.js";
import type { User, World } from "../world.js";
import { objectBody } from "./body.js";

export interface Call {
  world: World;
  user: User;
  info: RequestInfo;
  query: URLSearchParams;
  /** Media type of the request's body. */
  mediaType: string;
  /** JSON of the body; undefined without one. */
  body: unknown;
}

export interface Answer {
  code: number;
  /** JSON */
  text: string;
}

/** Subresources that a POST acts upon. */
const ACTIONS: Readonly<Record<string, (target: Target, body: ApiObject, context: WriteContext) => Fields>> = {
  "pods/binding": bindPod,
  "pods/eviction": evictPod,
  "serviceaccounts/token": requestToken,
};

export async function perform(call: Call): Promise<Answer> {
  const { info } = call;
  const resource = info.served;
  if (resource === undefined) throw noSuchResource();
  if (!resource.namespaced && info.namespace !== "" && resource.resource !== "namespaces") throw noSuchResource();
  checkSubresource(resource, info);
  switch (info.verb) {
    case "get":
      return { code: 200, text: objectText(resource, get(call, resource)) };
    case "list":
      return { code: 200, text: await list(call.world, resource, namespaceOf(call, resource), call.query) };
    case "create":
      return create(call, resource);
    case "update":
      return update(call, resource);
    case "patch":
      return patch(call, resource);
    case "delete":
      return remove(call, resource);
    case "deletecollection":
      return removeAll(call, resource);
    default:
      throw methodNotAllowed();
  }
}

export function namespaceOf({ info }: Pick<Call, "info">, resource: Resource): string {
  return resource.namespaced ? info.namespace : "";
}

function checkSubresource(resource: Resource, { subresource, verb }: RequestInfo): void {
  if (REVIEWS.includes(resource) && (verb !== "create" || subresource !== "")) throw methodNotAllowed();
  if (subresource === "") return;
  const isKnown = resource.subresources.includes(subresource) || (subresource === "status" && resource.status);
  if (!isKnown) throw noSuchResource();
  const isAction = ACTIONS[`${resource.resource}/${subresource}`] !== undefined;
  const allowed = isAction ? ["create"] : ["get", "update", "patch"];
  if (!allowed.includes(verb)) throw methodNotAllowed();
}

function targetOf(call: Call, resource: Resource): Target {
  return { resource, namespace: namespaceOf(call, resource), name: call.info.name };
}

function contextOf({ world, user, query }: Call): WriteContext {
  const dryRun = query.getAll("dryRun");
  if (dryRun.some((value) => value !== "All")) throw badRequest(`dryRun: Unsupported value: "${dryRun.join(",")}"`);
  return { world, user, dryRun: dryRun.length > 0 };
}

function get(call: Call, resource: Resource): ApiObject {
  const { namespace, name } = targetOf(call, resource);
  const object = call.world.store.get(resource, keyOf(namespace, name));
  if (object === undefined) throw notFound(resource, name);
  return object;
}

function create(call: Call, resource: Resource): Answer {
  const { info, world, user } = call;
  const body = objectBody(call.body);
  if (REVIEWS.includes(resource)) return { code: 201, text: JSON.stringify(review(world, resource, body, user)) };
  const target = targetOf(call, resource);
  const action = ACTIONS[`${resource.resource}/${info.subresource}`];
  if (action !== undefined) return { code: 201, text: JSON.stringify(action(target, body, contextOf(call))) };
  if (info.name !== "" || info.subresource !== "") throw methodNotAllowed();
  if (resource.namespaced && target.namespace === "") throw methodNotAllowed();
  return { code: 201, text: objectText(resource, createObject(target, body, contextOf(call))) };
}

function update(call: Call, resource: Resource): Answer {
  if (call.info.name === "") throw methodNotAllowed();
  const { object, created } = replaceObject(
    targetOf(call, resource),
    call.info.subresource,
    objectBody(call.body),
    contextOf(call),
  );
  return { code: created ? 201 : 200, text: objectText(resource, object) };
}

function patch(call: Call, resource: Resource): Answer {
  if (call.info.name === "") throw methodNotAllowed();
  const change = patchFor(call.mediaType, call.body);
  const object = updateObject(targetOf(call, resource), call.info.subresource, change, contextOf(call));
  return { code: 200, text: objectText(resource, object) };
}

function remove(call: Call, resource: Resource): Answer {
  const { object, gone } = deleteObject(targetOf(call, resource), optionsOf(call), contextOf(call));
  // For pods, and objects that stay with a deletion timestamp, the response is the object, otherwise a Status.
  if (resource.resource === "pods" || !gone) return { code: 200, text: objectText(resource, object) };
  const { name, uid } = object.metadata;
  const details = { name, ...(resource.group === "" ? {} : { group: resource.group }), kind: resource.resource, uid };
  return { code: 200, text: JSON.stringify(canonicalStatus(undefined, details)) };
}

async function removeAll(call: Call, resource: Resource): Promise<Answer> {
  const { world, query } = call;
  const namespace = namespaceOf(call, resource);
  if (resource.namespaced && namespace === "") throw methodNotAllowed();
  const text = await list(world, resource, namespace, withoutPages(query));
  for (const object of selected(world, resource, namespace, query)) {
    const target = { resource, namespace, name: object.metadata.name };
    deleteObject(target, optionsOf(call), contextOf(call));
  }
  return { code: 200, text };
}

function withoutPages(query: URLSearchParams): URLSearchParams {
  const rest = new URLSearchParams(query);
  for (const field of ["limit", "continue"]) rest.delete(field);
  return rest;
}

function optionsOf({ body, query }: Call): DeleteOptions {
  return readDeleteOptions(body, query);
}
