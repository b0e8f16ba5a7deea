// Fields that the kind of an object does not have are refused or dropped, with a warning or without one, as the request
// says. None is stored.

import { quote } from "../../../shared/base/text/quote.js";
import { badRequest } from "../objects/errors.js";
import { isFields, removeField, type ApiObject, type Fields } from "../objects/object.js";
import { fieldsOf } from "../objects/schema.js";
import type { WriteContext } from "../world.js";

/** No table of fields has them. */
const TYPE_FIELDS: ReadonlySet<string> = new Set(["kind", "apiVersion"]);
const MOST = 10;
/** Characters of a path: a name may be as long as the body. */
const MOST_SHOWN = 256;

/** Removes them from the object. @throws ApiError with fieldValidation=Strict */
export function dropUnknownFields(object: ApiObject, { unknownFields, warnings }: WriteContext): void {
  const { apiVersion, kind } = object;
  const found: string[] = [];
  drop(object, kind, "", found);
  if (found.length === 0 || unknownFields === "Ignore") return;
  const texts = found.slice(0, MOST).map((path) => `unknown field ${quote(path.slice(0, MOST_SHOWN))}`);
  if (unknownFields === "Warn") {
    warnings.push(...texts);
    return;
  }
  const version = apiVersion.split("/").at(-1) ?? "";
  const what = `${kind} in version ${quote(version)} cannot be handled as a ${kind}`;
  throw badRequest(`${what}: strict decoding error: ${texts.join(", ")}`);
}

function drop(value: Fields, message: string, path: string, found: string[]): void {
  const fields = fieldsOf(message);
  if (fields.size === 0) return;
  for (const [name, inner] of Object.entries(value)) {
    if (path === "" && TYPE_FIELDS.has(name)) continue;
    const field = fields.get(name);
    const at = path === "" ? name : `${path}.${name}`;
    if (field === undefined) {
      found.push(at);
      removeField(value, name);
    } else if (field.kind === "one" && isFields(inner)) drop(inner, field.type, at, found);
    else if (field.kind === "repeated" && Array.isArray(inner)) {
      for (const [index, item] of inner.entries()) {
        if (isFields(item)) drop(item, field.type, `${at}[${index}]`, found);
      }
    }
  }
}
