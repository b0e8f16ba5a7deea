// The path of a field in an object of the API, and its name in messages.

/** Steps from the object's root to a value. */
export type FieldPath = readonly (string | number)[];

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** "spec.containers[0].resources.limits[cpu]": names that are no identifiers are in brackets. */
export function fieldName(path: FieldPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number" || !PLAIN_KEY.test(step)) text += `[${step}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}
