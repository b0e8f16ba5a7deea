// The rules of a provider's tokenAttributes: which data of a pod's service account the plugin receives.

import { quote } from "../../../../shared/base/text/quote.js";
import { isQualifiedName } from "../../../../shared/kubernetes/api/manifest/formats.js";
import { TOKEN_CACHE_TYPES, TOKEN_CONFIG_VERSION, TOKEN_PLUGIN_VERSION, type TokenAttributes } from "./config.js";
import type { FieldReader, Members, Path } from "./field-reader.js";

const FIELDS = [
  "serviceAccountTokenAudience",
  "cacheType",
  "requireServiceAccount",
  "requiredServiceAccountAnnotationKeys",
  "optionalServiceAccountAnnotationKeys",
] as const;
const REQUIRED_KEYS = "requiredServiceAccountAnnotationKeys";
const OPTIONAL_KEYS = "optionalServiceAccountAnnotationKeys";

export interface TokenRules {
  /** KubeletServiceAccountTokenForCredentialProviders. */
  allowed: boolean;
  /** API version of the file. */
  configVersion: unknown;
  /** API version of the request to the plugin. */
  pluginVersion: string;
}

/** undefined: the plugin receives no data of service accounts. */
export function readTokenAttributes(
  fields: FieldReader,
  value: unknown,
  path: Path,
  rules: TokenRules,
): TokenAttributes | undefined {
  if (value === undefined || value === null) return undefined;
  const members = fields.object(value, path, FIELDS);
  if (members === undefined) return undefined;
  if (!rules.allowed) fields.problem(path, "needs the feature gate KubeletServiceAccountTokenForCredentialProviders");
  if (rules.configVersion !== TOKEN_CONFIG_VERSION) {
    fields.problem(path, `is only known in files of apiVersion ${TOKEN_CONFIG_VERSION}`);
  }
  if (rules.pluginVersion !== TOKEN_PLUGIN_VERSION) {
    fields.problem(path, `needs a plugin of apiVersion ${TOKEN_PLUGIN_VERSION}`);
  }
  const serviceAccountTokenAudience = fields.text(members, path, "serviceAccountTokenAudience");
  const cacheType = fields.oneOf(members, path, "cacheType", TOKEN_CACHE_TYPES);
  const requireServiceAccount = members["requireServiceAccount"];
  if (typeof requireServiceAccount !== "boolean") {
    fields.problem([...path, "requireServiceAccount"], "must be true or false");
  }
  const required = annotationKeys(fields, members, path, REQUIRED_KEYS);
  const optional = annotationKeys(fields, members, path, OPTIONAL_KEYS);
  if (requireServiceAccount === false && required.length > 0) {
    fields.problem([...path, REQUIRED_KEYS], "has a meaning only with requireServiceAccount");
  }
  for (const key of new Set(optional)) {
    if (required.includes(key)) {
      fields.problem([...path, OPTIONAL_KEYS], `${quote(key)} is in ${REQUIRED_KEYS} too: give it in one of them`);
    }
  }
  return {
    serviceAccountTokenAudience,
    cacheType: cacheType ?? "Token",
    requireServiceAccount: requireServiceAccount === true,
    requiredServiceAccountAnnotationKeys: required,
    optionalServiceAccountAnnotationKeys: optional,
  };
}

function annotationKeys(fields: FieldReader, members: Members, path: Path, name: string): string[] {
  const keys = fields.texts(members, path, name);
  for (const [index, key] of keys.entries()) {
    const place = [...path, name, index];
    // As for annotations of objects: case does not matter.
    if (!isQualifiedName(key.toLowerCase())) fields.problem(place, `${quote(key)} is no key of an annotation`);
    if (keys.indexOf(key) !== index) fields.problem(place, `${quote(key)} is there twice`);
  }
  return keys;
}
