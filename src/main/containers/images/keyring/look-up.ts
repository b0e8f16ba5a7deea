// Credentials by registry, found for an image: the longest key first, keys without wildcards before those with.

import type { AuthConfig } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { matchesImage, parsePattern } from "./image-match.js";

/** Docker's own registry has this key in every file that docker login ever wrote. */
const DEFAULT_REGISTRY_KEY = "index.docker.io";

/**
 * Those that fit the image (registry and repository), in the order to try them. Descending order of the keys' text has
 * longer keys before their prefixes, and letters and digits before "*".
 */
export function lookUp(auths: ReadonlyMap<string, AuthConfig>, image: string): AuthConfig[] {
  const byKey = [...auths].map(([registry, auth]) => ({ key: normalized(registry), auth }));
  const fitting = byKey.filter(({ key }) => key !== undefined && matchesImage(key, image));
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

function descending(a: { key: string | undefined }, b: { key: string | undefined }): number {
  const [left, right] = [a.key ?? "", b.key ?? ""];
  return left < right ? 1 : left > right ? -1 : 0;
}
