// The rules of labels and annotations.

import { labelValue } from "../../../shared/kubernetes/api/manifest/formats.js";
import { FieldError } from "./errors.js";
import type { ObjectMeta } from "./object.js";

const NAME_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const ANNOTATIONS_LIMIT = 256 * 1024;

export function metadataErrors({ labels = {}, annotations = {} }: ObjectMeta): FieldError[] {
  const errors = Object.entries(labels).flatMap(([key, value]) => {
    const found = keyErrors("metadata.labels", key);
    return labelValue(value) === undefined
      ? found
      : [...found, FieldError.invalid("metadata.labels", value, VALUE_RULE)];
  });
  errors.push(...Object.keys(annotations).flatMap((key) => keyErrors("metadata.annotations", key.toLowerCase())));
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (size > ANNOTATIONS_LIMIT) errors.push(FieldError.tooLong("metadata.annotations", ANNOTATIONS_LIMIT));
  return errors;
}

function keyErrors(path: string, key: string): FieldError[] {
  const name = key.slice(key.indexOf("/") + 1);
  return name !== "" && labelValue(name) === undefined ? [] : [FieldError.invalid(path, key, NAME_RULE)];
}
