// Fields that the kind of an object does not have: refused, or answered with a warning, as the request says.

import { quote } from "../../../shared/base/text/quote.js";
import { badRequest } from "../objects/errors.js";
import { isFields, type ApiObject, type Fields } from "../objects/object.js";
import { fieldsOf } from "../objects/schema.js";
import type { WriteContext } from "../world.js";

const MOST = 10;
/** Characters of a path: a name may be as long as the body. */
const MOST_SHOWN = 256;

/** @throws ApiError with fieldValidation=Strict */
export function checkFields(object: ApiObject, { unknownFields, warnings }: WriteContext): void {
  if (unknownFields === "Ignore") return;
  const { apiVersion, kind, ...rest } = object;
  const found: string[] = [];
  collect(rest, kind, "", found);
  if (found.length === 0) return;
  const texts = found.slice(0, MOST).map((path) => `unknown field ${quote(path.slice(0, MOST_SHOWN))}`);
  if (unknownFields === "Warn") {
    warnings.push(...texts);
    return;
  }
  const version = apiVersion.split("/").at(-1) ?? "";
  const what = `${kind} in version ${quote(version)} cannot be handled as a ${kind}`;
  throw badRequest(`${what}: strict decoding error: ${texts.join(", ")}`);
}

function collect(value: Fields, message: string, path: string, found: string[]): void {
  const fields = fieldsOf(message);
  if (fields.size === 0) return;
  for (const [name, inner] of Object.entries(value)) {
    const field = fields.get(name);
    const at = path === "" ? name : `${path}.${name}`;
    if (field === undefined) found.push(at);
    else if (field.kind === "one" && isFields(inner)) collect(inner, field.type, at, found);
    else if (field.kind === "repeated" && Array.isArray(inner)) {
      for (const [index, item] of inner.entries()) {
        if (isFields(item)) collect(item, field.type, `${at}[${index}]`, found);
      }
    }
  }
}
