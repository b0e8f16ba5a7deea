// Names: made from generateName, and checked as DNS names.

import { randomBytes } from "node:crypto";
import { dnsLabel, dnsSubdomain } from "../../../shared/kubernetes/api/manifest/formats.js";
import { FieldError } from "./errors.js";
import type { ObjectMeta } from "./object.js";
import type { Resource } from "./resource.js";

const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const LONGEST_GENERATED = 63;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
/** What is said of a name that is none. @internal */
export const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
  "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** Five characters. @internal */
export function randomSuffix(): string {
  return [...randomBytes(5)].map((byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** Gives a name to an object that asks for a generated one. */
export function fillName(metadata: ObjectMeta): void {
  const { generateName } = metadata;
  if (metadata.name !== "" || generateName === undefined || generateName === "") return;
  metadata.name = generateName.slice(0, LONGEST_GENERATED - 5) + randomSuffix();
}

export function nameErrors({ resource }: Resource, { name }: ObjectMeta): FieldError[] {
  if (name === "") return [FieldError.required("metadata.name", "name or generateName is required")];
  if (resource === "namespaces") {
    return dnsLabel(name) === undefined ? [] : [FieldError.invalid("metadata.name", name, LABEL_RULE)];
  }
  return dnsSubdomain(name) === undefined ? [] : [FieldError.invalid("metadata.name", name, SUBDOMAIN_RULE)];
}
