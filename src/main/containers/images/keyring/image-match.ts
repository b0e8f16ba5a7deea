// Which registry keys fit an image, and in which order their credentials are tried. A key may have globs in its host,
// label by label, a port and a path. The rules are those of the public API (matchImages of CredentialProvider): as many
// labels, the same port, the path a prefix.

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

/**
 * "*.registry.io:5000/team" → its parts. As in a URL, scheme, user, query and fragment are no part of host and path: a
 * "?" is no glob. undefined: no host in it, or longer than any.
 */
export function parsePattern(text: string): RegistryPattern | undefined {
  if (text.length > LONGEST_PATTERN) return undefined;
  const rest = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").split(/[?#]/, 1)[0] ?? "";
  const slash = rest.indexOf("/");
  const withUser = slash < 0 ? rest : rest.slice(0, slash);
  const authority = withUser.slice(withUser.lastIndexOf("@") + 1);
  const parts = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(authority);
  const host = parts?.[1] ?? "";
  if (host === "") return undefined;
  const labels = host.startsWith("[") ? [host] : host.split(".");
  return { labels, port: parts?.[2] ?? "", path: slash < 0 ? "" : rest.slice(slash) };
}

/** `image` is a reference that begins with its registry: "registry.io:5000/team/app:1". */
export function matchesImage(pattern: string, image: string): boolean {
  const [key, target] = [parsePattern(pattern), parsePattern(image)];
  return key !== undefined && target !== undefined && matchesPattern(key, target);
}

export function matchesPattern(key: RegistryPattern, target: RegistryPattern): boolean {
  return (
    key.port === target.port &&
    key.labels.length === target.labels.length &&
    target.path.startsWith(key.path) &&
    key.labels.every((glob, index) => matchesGlob(glob, target.labels[index] ?? ""))
  );
}

/** Within one label: "*" is any number of characters. No way back further than the last star. */
function matchesGlob(glob: string, text: string): boolean {
  let [at, star, resume] = [0, -1, 0];
  for (let index = 0; index < text.length;) {
    if (at < glob.length && glob[at] === "*") [star, resume, at] = [at, index, at + 1];
    else if (at < glob.length && glob[at] === text[index]) [at, index] = [at + 1, index + 1];
    else if (star >= 0) {
      resume++;
      [at, index] = [star + 1, resume];
    } else return false;
  }
  while (glob[at] === "*") at++;
  return at === glob.length;
}
