// The verbs of an authorised request about a kept resource.

import { queryFlag } from "../../../shared/kubernetes/api/query-flag.js";
import type { User } from "../../server/auth/user.js";
import {
  badRequest,
  FieldError,
  invalid,
  methodNotAllowed,
  noSuchResource,
  notFound,
  notServed,
  unsupportedPatch,
} from "../objects/errors.js";
import { jsonText } from "../objects/json.js";
import { fieldsAt, isFields, nowText, type ApiObject, type Fields } from "../objects/object.js";
import type { RequestInfo } from "../objects/request-info.js";
import { apiVersionOf, type Resource } from "../objects/resource.js";
import { applied } from "../patch/ownership.js";
import { patchFor } from "../patch/patch-for.js";
import { keyOf } from "../store/tables.js";
import type { Transaction } from "../store/transaction.js";
import { createObject } from "../verbs/create.js";
import { readDeleteOptions } from "../verbs/delete-options.js";
import { deleteObject } from "../verbs/delete.js";
import { list, listText, selected, type Page } from "../verbs/list.js";
import { replaceObject, updateObject } from "../verbs/update.js";
import type { Target, World, WriteContext } from "../world.js";
import { objectBody } from "./body.js";

export interface Call {
  world: World;
  user: User;
  info: RequestInfo;
  resource: Resource;
  query: URLSearchParams;
  /** Media type of the body. */
  mediaType: string;
  /** undefined: there is none. */
  body: unknown;
  /** For Warning headers. */
  warnings: string[];
}

export interface Answer {
  code: number;
  /** The object, the list or a Status. */
  shown: Fields;
  /** JSON of it. */
  text: () => string;
}

const APPLY = "application/apply-patch+yaml";
const VERBS_WITH_OPTIONS: Readonly<Record<string, string>> = { create: "Create", update: "Update", patch: "Patch" };

/** The kind of the options of a write. */
function optionsOf({ verb }: RequestInfo): { group: string; kind: string } {
  return { group: "meta.k8s.io", kind: `${VERBS_WITH_OPTIONS[verb] ?? "Delete"}Options` };
}

export async function perform(call: Call): Promise<Answer> {
  const { info, resource, world, query } = call;
  if (!resource.namespaced && info.namespace !== "" && resource.key !== "namespaces") throw noSuchResource();
  const { namespace, name } = targetOf(call);
  if (info.verb !== "get" && info.verb !== "list") checkManager(call);
  switch (info.verb) {
    case "get": {
      const object = world.store.get(resource, keyOf(namespace, name));
      if (object === undefined) throw notFound(resource, name);
      return answerOf(object);
    }
    case "list":
      return listed(resource, list(world.store, resource, namespace, query));
    case "create":
      return info.subresource === "eviction" ? evict(call) : create(call);
    case "update":
      return update(call);
    case "patch":
      return patch(call);
    case "delete":
      return remove(call);
    case "deletecollection":
      return removeAll(call);
    default:
      throw methodNotAllowed();
  }
}

export function answerOf(shown: Fields, code = 200): Answer {
  return { code, shown, text: () => jsonText(shown) };
}

function listed(resource: Resource, page: Page): Answer {
  return { code: 200, shown: { ...page }, text: () => listText(resource, page) };
}

/** The resource has this subresource, and the subresource this verb. @throws ApiError */
export function checkSubresource(resource: Resource, { subresource, verb, name }: RequestInfo): void {
  const needsName = ["get", "update", "patch", "delete"].includes(verb) || subresource !== "";
  if (needsName !== (name !== "") && verb !== "list" && verb !== "deletecollection") throw methodNotAllowed();
  if (subresource === "") return;
  const isKnown = resource.subresources.includes(subresource) || (subresource === "status" && resource.status);
  if (!isKnown) throw notServed(noSuchResource());
  const allowed = subresource === "eviction" ? ["create"] : ["get", "update", "patch"];
  if (!allowed.includes(verb)) throw methodNotAllowed();
}

function targetOf({ info, resource }: Pick<Call, "info" | "resource">): Target {
  return { resource, namespace: resource.namespaced ? info.namespace : "", name: info.name };
}

/** One of the values that an option has. @throws ApiError */
function optionOf({ query, info }: Call, option: string, values: readonly string[]): string | undefined {
  const given = query.getAll(option);
  const wrong = given.find((value) => !values.includes(value));
  if (wrong === undefined) return given[0];
  throw invalid(optionsOf(info), "", [FieldError.unsupported(option, wrong, values)]);
}

const MANAGER_LENGTH = 128;

/** Who writes, and whether by force. @throws ApiError */
function checkManager({ query, info, mediaType }: Call): void {
  const isApply = info.verb === "patch" && mediaType === APPLY;
  const manager = query.get("fieldManager") ?? "";
  const errors: FieldError[] = [];
  if (isApply && manager === "") errors.push(FieldError.required("fieldManager", "is required for apply patch"));
  if (!isApply && query.has("force") && info.verb === "patch")
    errors.push(FieldError.forbidden("force", "may not be specified for non-apply patch"));
  if (manager.length > MANAGER_LENGTH) errors.push(FieldError.tooLong("fieldManager", MANAGER_LENGTH));
  if (errors.length > 0) throw invalid(optionsOf(info), "", errors);
}

function write<T>(call: Call, decide: (context: WriteContext) => T): Promise<T> {
  const { world, user, warnings } = call;
  const dryRun = optionOf(call, "dryRun", ["All"]);
  const wanted = optionOf(call, "fieldValidation", ["", "Ignore", "Strict", "Warn"]);
  const unknownFields = wanted === "Strict" || wanted === "Ignore" ? wanted : "Warn";
  return world.store.change((tx: Transaction) =>
    decide({ world, tx, user, dryRun: dryRun !== undefined, unknownFields, warnings }),
  );
}

async function create(call: Call): Promise<Answer> {
  const target = targetOf(call);
  if (call.resource.namespaced && target.namespace === "") throw methodNotAllowed();
  const body = objectBody(call.body);
  return answerOf(await write(call, (context) => createObject(target, body, context)), 201);
}

async function update(call: Call): Promise<Answer> {
  const body = objectBody(call.body);
  const { object, created } = await write(call, (context) =>
    replaceObject(targetOf(call), call.info.subresource, body, context),
  );
  return answerOf(object, created ? 201 : 200);
}

async function patch(call: Call): Promise<Answer> {
  const target = targetOf(call);
  const { subresource } = call.info;
  if (call.mediaType === APPLY) return apply(call, target, subresource);
  const change = keepingUid(target, patchFor(call.mediaType, call.body));
  return answerOf(await write(call, (context) => updateObject(target, subresource, change, context)));
}

/** A PUT with another UID is a conflict, since it may mean an earlier object. A patch with one is invalid. */
function keepingUid({ resource, name }: Target, change: (old: ApiObject) => ApiObject) {
  return (old: ApiObject): ApiObject => {
    const before = old.metadata.uid;
    const next = change(old);
    const { uid = "" } = next.metadata;
    if (uid === "" || uid === before) return next;
    throw invalid(resource, name, [FieldError.invalid("metadata.uid", uid, "field is immutable")]);
  };
}

async function apply(call: Call, target: Target, subresource: string): Promise<Answer> {
  const { resource, namespace, name } = target;
  const { query, world } = call;
  if (!isFields(call.body)) throw unsupportedPatch();
  const manager = query.get("fieldManager") ?? "";
  const body = objectBody(call.body);
  const { apiVersion = "", kind = "" } = body as Partial<ApiObject>;
  if (apiVersion !== apiVersionOf(resource) || kind !== resource.kind)
    throw badRequest(`invalid object type: ${apiVersion === "" ? "/" : apiVersion}, Kind=${kind}`);
  const config = { ...body, metadata: { ...body.metadata, name } };
  if (body.metadata.name !== "" && body.metadata.name !== name)
    throw badRequest(`the name of the object (${body.metadata.name}) does not match the name on the URL (${name})`);
  const options = { manager, force: queryFlag(query, "force"), time: nowText(world.clock) };
  const answered = await write(call, (context) => {
    if (context.tx.get(resource, keyOf(namespace, name)) !== undefined) {
      return {
        code: 200,
        object: updateObject(target, subresource, (old) => applied(old, config, options), context, true),
      };
    }
    if (subresource !== "") throw notFound(resource, name);
    if (body.metadata.name === "")
      throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
    const bare = { apiVersion: config.apiVersion, kind: config.kind, metadata: { name } };
    return { code: 201, object: createObject(target, applied(bare, config, options), context, true) };
  });
  return answerOf(answered.object, answered.code);
}

async function remove(call: Call): Promise<Answer> {
  const { resource } = call;
  const options = readDeleteOptions(call.body, call.query);
  const { object, gone } = await write(call, (context) => deleteObject(targetOf(call), options, context));
  // For pods, and objects that stay with a deletion timestamp, the response is the object, otherwise a Status.
  if (resource.key === "pods" || !gone) return answerOf(object);
  const { name, uid } = object.metadata;
  const details = { name, group: resource.group || undefined, kind: resource.resource, uid };
  return answerOf(success(details));
}

async function removeAll(call: Call): Promise<Answer> {
  const { resource, query } = call;
  const { namespace } = targetOf(call);
  if (resource.namespaced && namespace === "") throw methodNotAllowed();
  const options = readDeleteOptions(call.body, query);
  const items = await write(call, (context) =>
    selected(context.tx.entries(resource), resource, namespace, query).map(
      ([, { metadata }]) => deleteObject({ resource, namespace, name: metadata.name }, options, context).object,
    ),
  );
  return listed(resource, { metadata: { resourceVersion: String(call.world.store.revision) }, items });
}

/** Without disruption budgets an eviction is a delete. */
async function evict(call: Call): Promise<Answer> {
  const body = objectBody(call.body);
  if (body.metadata.name !== "" && body.metadata.name !== call.info.name)
    throw badRequest("name in URL does not match name in Eviction object");
  const options = readDeleteOptions(fieldsAt(body, "deleteOptions"), call.query);
  await write(call, (context) => deleteObject(targetOf(call), options, context));
  return answerOf({ ...success(), code: 201 }, 201);
}

function success(details?: Fields): Fields {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}
