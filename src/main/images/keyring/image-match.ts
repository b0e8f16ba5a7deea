// Which registry keys fit an image, and in which order their credentials are tried. A key may have globs in its host, label by label, a port
// and a path. The rules are those of the public API (matchImages of CredentialProvider): as many labels, the same port, the path a prefix.
import type { AuthConfig } from "../../../shared/cri/gen/runtime.v1.js";

/** No image has a longer name. */
const LONGEST_PATTERN = 4096;

/** The parts of a key, or of an image's reference. */
export interface RegistryPattern {
  labels: string[];
  /** "" without one. */
  port: string;
  /** Begins with "/", or is "". */
  path: string;
}

/** "*.registry.io:5000/team" → its parts; a scheme is left out. undefined: no host in it, or longer than any. */
export function parsePattern(text: string): RegistryPattern | undefined {
  if (text.length > LONGEST_PATTERN) return undefined;
  const rest = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "");
  const slash = rest.indexOf("/");
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  const parts = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(authority);
  const host = parts?.[1] ?? "";
  if (host === "") return undefined;
  const labels = host.startsWith("[") ? [host] : host.split(".");
  return { labels, port: parts?.[2] ?? "", path: slash < 0 ? "" : rest.slice(slash) };
}

/** `image` is a reference that begins with its registry: "registry.io:5000/team/app:1". */
export function matchesImage(pattern: string, image: string): boolean {
  const [key, target] = [parsePattern(pattern), parsePattern(image)];
  if (key === undefined || target === undefined) return false;
  return (
    key.port === target.port &&
    key.labels.length === target.labels.length &&
    target.path.startsWith(key.path) &&
    key.labels.every((glob, index) => matchesGlob(glob, target.labels[index] ?? ""))
  );
}

/** Within one label: "*" is any number of characters, "?" exactly one. No way back further than the last star. */
function matchesGlob(glob: string, text: string): boolean {
  let [at, star, resume] = [0, -1, 0];
  for (let index = 0; index < text.length;) {
    if (at < glob.length && glob[at] === "*") [star, resume, at] = [at, index, at + 1];
    else if (at < glob.length && (glob[at] === "?" || glob[at] === text[index])) [at, index] = [at + 1, index + 1];
    else if (star >= 0) {
      resume++;
      [at, index] = [star + 1, resume];
    } else return false;
  }
  while (glob[at] === "*") at++;
  return at === glob.length;
}

// Credentials by registry, found for an image: the longest key first, keys without wildcards before those with.

/** Docker's own registry has this key in every file that docker login ever wrote. */
const DEFAULT_REGISTRY_KEY = "index.docker.io";

/**
 * Those that fit the image (registry and repository), in the order to try them. Descending order of the keys' text has longer keys before their
 * prefixes, and letters and digits before "*".
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
