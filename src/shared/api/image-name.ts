// References to images ("registry.example:5000/team/app:1.2@sha256:…") taken apart.
// Grammar: https://github.com/distribution/reference (the API's and every runtime's).

export interface ImageName {
  /** "docker.io" when the text names no registry. */
  registry: string;
  /** "library/busybox" for a bare "busybox". */
  repository: string;
  tag?: string;
  digest?: string;
}

const REGISTRY_PART = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
const REGISTRY = new RegExp(`^(?:${REGISTRY_PART}(?:\\.${REGISTRY_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?$`);
const PATH_PART = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const BARE_ID = /^[a-f0-9]{64}$/;
const MAX_NAME = 255;

/** Undefined when the text is no image reference. */
export function parseImageName(text: string): ImageName | undefined {
  if (text.length > 1024 || BARE_ID.test(text)) return undefined;
  const [named = "", digest, ...more] = text.split("@");
  if (more.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return undefined;
  const colon = named.indexOf(":", named.lastIndexOf("/") + 1);
  // "localhost:5000" alone is a name with a tag: a registry needs a path behind it.
  const name = colon < 0 ? named : named.slice(0, colon);
  const tag = colon < 0 ? undefined : named.slice(colon + 1);
  if (tag !== undefined && !TAG.test(tag)) return undefined;
  const { registry, repository } = splitRegistry(name);
  if (!REGISTRY.test(registry) || !repository.split("/").every((part) => PATH_PART.test(part))) return undefined;
  if (registry.length + 1 + repository.length > MAX_NAME) return undefined;
  return { registry, repository, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
}

/** The first part is a registry if it has a dot, a port or an upper-case letter, or is localhost. */
function splitRegistry(name: string): { registry: string; repository: string } {
  const slash = name.indexOf("/");
  const first = name.slice(0, Math.max(slash, 0));
  const isHost = /[.:]/.test(first) || first === "localhost" || first.toLowerCase() !== first;
  if (slash < 0) return { registry: "docker.io", repository: `library/${name}` };
  if (!isHost) return { registry: "docker.io", repository: name };
  const repository = name.slice(slash + 1);
  const official = first === "docker.io" && !repository.includes("/");
  return { registry: first, repository: official ? `library/${repository}` : repository };
}

// Whether two names may mean one image: "busybox", "docker.io/library/busybox:latest" and an id are compared as text
// only. An image and a reference match when they share a key.

export interface NamedImage {
  id: string;
  repoTags: readonly string[];
  repoDigests: readonly string[];
}

/** Everything the image may be called. */
export function keysOfImage({ id, repoTags, repoDigests }: NamedImage): string[] {
  return [bareId(id), ...[...repoTags, ...repoDigests].flatMap(keysOfReference)];
}

/** The keys under which a reference in a pod or container may be known. A digest has precedence over a tag. */
export function keysOfReference(reference: string): string[] {
  // "sha256:…" also reads as a repository of that name: it is an id.
  const name = reference.startsWith("sha256:") ? undefined : parseImageName(reference);
  if (name === undefined) return reference === "" ? [] : [bareId(reference)];
  const { registry, repository, tag = "latest", digest } = name;
  const full = `${registry}/${repository}`;
  return [digest === undefined ? `${full}:${tag}` : `${full}@${digest}`];
}

function bareId(id: string): string {
  return id.replace(/^sha256:/, "");
}
