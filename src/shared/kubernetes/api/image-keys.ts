// Whether two names may mean one image: "busybox", "docker.io/library/busybox:latest" and an id are compared as text
// only. An image and a reference match when they share a key.

import { parseImageName } from "./image-name.js";

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
