// Credentials by registry, found for an image: the longest key first, keys without wildcards before those with.

import { oncePer } from "../../../../shared/base/objects/once-per.js";
import type { AuthConfig } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { matchesPattern, parsePattern, type RegistryPattern } from "./image-match.js";

/** Docker's own registry has this key in every file that docker login ever wrote. */
const DEFAULT_REGISTRY_KEY = "index.docker.io";

interface Entry {
  key: string;
  /** The key, read. */
  pattern: RegistryPattern;
  auth: AuthConfig;
}

/** A secret may have twenty thousand registries, and each image of a pod is looked up. */
const entriesOf = oncePer((auths: ReadonlyMap<string, AuthConfig>): readonly Entry[] =>
  [...auths].flatMap(([registry, auth]) => {
    const key = normalized(registry);
    const pattern = key === undefined ? undefined : parsePattern(key);
    return key === undefined || pattern === undefined ? [] : [{ key, pattern, auth }];
  }),
);

/**
 * Those that fit the image (registry and repository), in the order to try them. Descending order of the keys' text has
 * longer keys before their prefixes, and letters and digits before "*".
 */
export function lookUp(auths: ReadonlyMap<string, AuthConfig>, image: string): AuthConfig[] {
  const byKey = entriesOf(auths);
  const target = parsePattern(image);
  const fitting = target === undefined ? [] : byKey.filter(({ pattern }) => matchesPattern(pattern, target));
  if (fitting.length > 0) return fitting.sort(descending).map(({ auth }) => auth);
  if (!image.startsWith("docker.io/")) return [];
  return byKey.filter(({ key }) => key === DEFAULT_REGISTRY_KEY).map(({ auth }) => auth);
}

/** "https://index.docker.io/v1/" → "index.docker.io": scheme and API version name no image. */
function normalized(registry: string): string | undefined {
  const parts = parsePattern(registry);
  if (parts === undefined) return undefined;
  const path = parts.path.replace(/^\/v[12](?=\/)/, "").replace(/^\/$/, "");
  return `${parts.labels.join(".")}${parts.port === "" ? "" : `:${parts.port}`}${path}`;
}

function descending({ key: left }: Entry, { key: right }: Entry): number {
  return left < right ? 1 : left > right ? -1 : 0;
}
