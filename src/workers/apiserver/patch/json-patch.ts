// RFC 6902. A patch that can't be applied is 422, as in the server; a text that is not a patch is 400.

import { ApiError, badRequest } from "../objects/errors.js";
import { jsonText } from "../objects/json.js";
import { isFields, isSame, setField, type Fields } from "../objects/object.js";
import { boundedTree } from "../objects/tree.js";

/** As upstream's server bounds them. @internal */
export const MAX_OPERATIONS = 10_000;
/** Characters of JSON that the copies of one patch make: each may copy what those before it made. @internal */
export const MAX_COPIED = 3 * 1024 * 1024;

interface Operation {
  op: string;
  path: string;
  from?: string;
  value?: unknown;
}

export function applyJsonPatch(document: Fields, patch: unknown): Fields {
  if (!Array.isArray(patch))
    throw badRequest(
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    );
  if (patch.length > MAX_OPERATIONS)
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}`);
  // A holder, so that the root is a child as all the others are.
  const holder: Fields = { root: document };
  let copied = 0;
  for (const operation of patch as unknown[]) {
    if (!isOperation(operation)) throw badRequest("error decoding patch: an operation has an op and a path");
    if (operation.op === "copy") {
      copied += jsonText(read(holder, operation.from ?? "") ?? null).length;
      if (copied > MAX_COPIED) throw tooLarge(`The copies of a JSON patch have at most ${MAX_COPIED} bytes`);
    }
    apply(holder, operation);
  }
  const { root } = holder;
  if (!isFields(root)) throw cannot();
  // Each operation may put its value below the one before it.
  boundedTree(root);
  return root;
}

function isOperation(value: unknown): value is Operation {
  if (!isFields(value)) return false;
  const { op, path, from = "" } = value;
  return typeof op === "string" && typeof path === "string" && typeof from === "string";
}

function tooLarge(message: string): ApiError {
  return new ApiError(413, "RequestEntityTooLarge", message);
}

function apply(holder: Fields, { op, path, from, value }: Operation): void {
  switch (op) {
    case "add":
      add(holder, path, structuredClone(value));
      return;
    case "remove":
      remove(holder, path);
      return;
    case "replace":
      read(holder, path);
      remove(holder, path);
      add(holder, path, structuredClone(value));
      return;
    case "move": {
      const moved = read(holder, from ?? "");
      remove(holder, from ?? "");
      add(holder, path, moved);
      return;
    }
    case "copy":
      add(holder, path, structuredClone(read(holder, from ?? "")));
      return;
    case "test":
      if (!isSame(read(holder, path) ?? null, value ?? null)) throw cannot();
      return;
    default:
      throw cannot();
  }
}

function cannot(): ApiError {
  return new ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

function split(path: string): string[] {
  return `/root${path}`
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function parentOf(holder: Fields, path: string): { parent: Fields | unknown[]; last: string } {
  const parts = split(path);
  const last = parts.pop() ?? "";
  let parent: unknown = holder;
  for (const part of parts) parent = childOf(parent, part);
  if (!isFields(parent) && !Array.isArray(parent)) throw cannot();
  return { parent, last };
}

function childOf(parent: unknown, part: string): unknown {
  if (Array.isArray(parent)) return parent[indexOf(parent, part)];
  if (isFields(parent) && Object.hasOwn(parent, part)) return parent[part];
  throw cannot();
}

function indexOf(list: readonly unknown[], part: string, limit = list.length - 1): number {
  const index = Number(part);
  if (!/^\d+$/.test(part) || index > limit) throw cannot();
  return index;
}

function read(holder: Fields, path: string): unknown {
  const { parent, last } = parentOf(holder, path);
  return childOf(parent, last);
}

function add(holder: Fields, path: string, value: unknown): void {
  const { parent, last } = parentOf(holder, path);
  if (!Array.isArray(parent)) setField(parent, last, value);
  else if (last === "-") parent.push(value);
  else parent.splice(indexOf(parent, last, parent.length), 0, value);
}

function remove(holder: Fields, path: string): void {
  const { parent, last } = parentOf(holder, path);
  if (Array.isArray(parent)) parent.splice(indexOf(parent, last), 1);
  else if (!Object.hasOwn(parent, last)) throw cannot();
  else Reflect.deleteProperty(parent, last);
}
