// Image references as the Engine's pull takes them. Pure.

/**
 * "registry:5000/a/b:v1" → name and tag; the digest of "a@sha256:…" stands in place of the tag. Without both: "latest".
 */
export function splitReference(reference: string): { name: string; tag: string } {
  const at = reference.indexOf("@");
  if (at >= 0) return { name: withoutTag(reference.slice(0, at)), tag: reference.slice(at + 1) };
  const name = withoutTag(reference);
  return { name, tag: name === reference ? "latest" : reference.slice(name.length + 1) };
}

function withoutTag(reference: string): string {
  const colon = reference.lastIndexOf(":");
  return colon > reference.lastIndexOf("/") ? reference.slice(0, colon) : reference;
}
