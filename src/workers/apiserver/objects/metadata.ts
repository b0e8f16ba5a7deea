// The rules of labels, annotations, finalizers and owners.

import { finalizerName, isQualifiedName, labelValue } from "../../../shared/kubernetes/api/manifest/formats.js";
import { FieldError } from "./errors.js";
import { textAt, type ObjectMeta } from "./object.js";

const NAME_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const KEY_RULE =
  "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  "alphanumeric character, with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
const FINALIZER_RULE = "name is neither a standard finalizer name nor is it fully qualified";
const ANNOTATIONS_LIMIT = 256 * 1024;

export function metadataErrors(metadata: ObjectMeta): FieldError[] {
  const { labels = {}, annotations = {} } = metadata;
  const errors = Object.entries(labels).flatMap(([key, value]) => {
    const found = keyErrors("metadata.labels", key);
    return labelValue(value) === undefined
      ? found
      : [...found, FieldError.invalid("metadata.labels", value, VALUE_RULE)];
  });
  errors.push(...Object.keys(annotations).flatMap((key) => keyErrors("metadata.annotations", key)));
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (size > ANNOTATIONS_LIMIT) errors.push(FieldError.tooLong("metadata.annotations", ANNOTATIONS_LIMIT));
  return [...errors, ...finalizerErrors(metadata), ...ownerErrors(metadata)];
}

/** The prefix of an annotation may have capitals. */
function keyErrors(path: string, key: string): FieldError[] {
  if (isQualifiedName(path === "metadata.labels" ? key : key.toLowerCase())) return [];
  return [FieldError.invalid(path, key, key.split("/").length > 2 ? KEY_RULE : NAME_RULE)];
}

function finalizerErrors({ finalizers = [] }: ObjectMeta): FieldError[] {
  return finalizers.flatMap((name, index) => {
    if (finalizerName(name) === undefined) return [];
    return [FieldError.invalid(`metadata.finalizers[${index}]`, name, FINALIZER_RULE)];
  });
}

function ownerErrors({ ownerReferences = [] }: ObjectMeta): FieldError[] {
  const path = "metadata.ownerReferences";
  const missing = ownerReferences.flatMap((owner) =>
    ["apiVersion", "kind", "name", "uid"]
      .filter((field) => (textAt({ ...owner }, field) ?? "") === "")
      .map((field) => FieldError.invalid(`${path}.${field}`, "", "must not be empty")),
  );
  const controllers = ownerReferences.filter(({ controller }) => controller === true);
  const only = `Only one reference can have Controller set to true. Found "true" in references for ${controllers
    .map(({ name }) => name)
    .join(" and ")}`;
  return controllers.length > 1 ? [...missing, FieldError.invalid(path, ownerReferences, only)] : missing;
}
