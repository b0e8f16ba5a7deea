// The keys of a secret that its type promises to those who read it.
// https://kubernetes.io/docs/concepts/configuration/secret/#secret-types

import { FieldError } from "../objects/errors.js";
import { fieldsAt, isFields, textAt, type ApiObject } from "../objects/object.js";

const ACCOUNT = "kubernetes.io/service-account.name";
/** What a refusal shows in place of a value. */
const HIDDEN = "<secret contents redacted>";

export function secretErrors(secret: ApiObject): FieldError[] {
  const data = fieldsAt(secret, "data");
  return TYPES[textAt(secret, "type") ?? ""]?.(data, secret) ?? [];
}

type Check = (data: Readonly<Record<string, unknown>>, secret: ApiObject) => FieldError[];

const TYPES: Readonly<Record<string, Check | undefined>> = {
  "kubernetes.io/service-account-token": (_, { metadata }) =>
    (metadata.annotations?.[ACCOUNT] ?? "") === "" ? [required(`metadata.annotations[${ACCOUNT}]`)] : [],
  "kubernetes.io/dockercfg": (data) => jsonErrors(data, ".dockercfg"),
  "kubernetes.io/dockerconfigjson": (data) => jsonErrors(data, ".dockerconfigjson"),
  "kubernetes.io/basic-auth": (data) =>
    "username" in data || "password" in data ? [] : [required(at("username")), required(at("password"))],
  "kubernetes.io/ssh-auth": (data) => ((data["ssh-privatekey"] ?? "") === "" ? [required(at("ssh-privatekey"))] : []),
  "kubernetes.io/tls": (data) => ["tls.crt", "tls.key"].filter((key) => !(key in data)).map((key) => required(at(key))),
};

function jsonErrors(data: Readonly<Record<string, unknown>>, key: string): FieldError[] {
  const value = data[key];
  if (typeof value !== "string") return [required(at(key))];
  try {
    if (isFields(JSON.parse(Buffer.from(value, "base64").toString("utf8")))) return [];
  } catch {
    // Said below: the reason would show a part of the secret.
  }
  return [FieldError.invalid(at(key), HIDDEN, "must be a JSON object")];
}

function at(key: string): string {
  return `data[${key}]`;
}

function required(field: string): FieldError {
  return FieldError.required(field, "");
}
