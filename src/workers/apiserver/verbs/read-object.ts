// The object of a request as its kind has it. Fields that the kind does not have are refused or dropped, with a warning
// or without one, as the request says. None is stored.

import { quote } from "../../../shared/base/text/quote.js";
import { badRequest } from "../objects/errors.js";
import type { ApiObject } from "../objects/object.js";
import { readFields } from "../objects/read-fields.js";
import type { WriteContext } from "../world.js";

const MOST = 10;
/** Characters of a path: a name may be as long as the body. */
const MOST_SHOWN = 256;

/** Changes the object. @throws ApiError for a value of another type, and with fieldValidation=Strict */
export function readObject(object: ApiObject, { unknownFields, warnings }: WriteContext): void {
  const { apiVersion, kind } = object;
  const unknown = readFields(object);
  if (unknown.length === 0 || unknownFields === "Ignore") return;
  const texts = unknown.slice(0, MOST).map((path) => `unknown field ${quote(path.slice(0, MOST_SHOWN))}`);
  if (unknownFields === "Warn") {
    warnings.push(...texts);
    return;
  }
  const version = apiVersion.split("/").at(-1) ?? "";
  const what = `${kind} in version ${quote(version)} cannot be handled as a ${kind}`;
  throw badRequest(`${what}: strict decoding error: ${texts.join(", ")}`);
}
