// Image names from pod specs. A name without tag and digest means ":latest". Names that no runtime can parse are
// refused before a call to the runtime.

import { quote } from "../../../shared/base/text/quote.js";
import { readImageName, type ImageName } from "../../../shared/kubernetes/api/image-name.js";

/** The text is no image reference. The message is the end of the InvalidImageName message. */
export class InvalidImageNameError extends Error {
  override readonly name = "InvalidImageNameError";
  constructor(
    readonly image: string,
    problem: string,
  ) {
    super(`couldn't parse image name ${quote(image)}: ${problem}`);
  }
}

/** "busybox" → "busybox:latest"; a tag or digest stays. The rest of the text is unchanged. @internal */
export function withDefaultTag(image: string): string {
  return hasTagOrDigest(image) ? image : `${image}:latest`;
}

/** The reference for the runtime. Throws InvalidImageNameError. */
export function requestedImage(image: string): string {
  nameOf(image);
  return withDefaultTag(image);
}

/** "registry:5000/a/b:1@sha256:…" → "registry:5000/a/b". */
export function withoutTagAndDigest(image: string): string {
  const named = image.split("@", 1)[0] ?? image;
  const colon = named.indexOf(":", named.lastIndexOf("/") + 1);
  return colon < 0 ? named : named.slice(0, colon);
}

/**
 * With its registry, without tag and digest: "busybox:1" → "docker.io/library/busybox". Keys of credentials match this.
 */
export function fullRepository(image: string): string {
  const { registry, repository } = nameOf(image);
  return `${registry}/${repository}`;
}

function nameOf(image: string): ImageName {
  const read = readImageName(image);
  if (typeof read === "string") throw new InvalidImageNameError(image, read);
  return read;
}

function hasTagOrDigest(image: string): boolean {
  return withoutTagAndDigest(image) !== image;
}
