// References to images ("registry.example:5000/team/app:1.2@sha256:…") taken apart.
// Grammar: https://github.com/distribution/reference (the API's and every runtime's).

import { omitUndefined } from "../../base/objects/omit-undefined.js";
import type { PullPolicy } from "./pod.js";

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
const CHECKSUM_NAME = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:/;
const BARE_ID = /^[a-f0-9]{64}$/;
const MAX_PATH = 255;
/** Longer texts are no reference: tag, digest and registry together are shorter. */
export const MAX_TEXT = 4096;
/** Hexadecimal digits by algorithm. */
const CHECKSUM_DIGITS = new Map([
  ["sha256", 64],
  ["sha384", 96],
  ["sha512", 128],
]);

/** Undefined when the text is no image reference. */
export function parseImageName(text: string): ImageName | undefined {
  const read = readImageName(text);
  return typeof read === "string" ? undefined : read;
}

/** The name, or why there is none, in the words of upstream's parser. */
export function readImageName(text: string): ImageName | string {
  if (text.length > MAX_TEXT) return INVALID;
  if (BARE_ID.test(text)) return `invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`;
  const { registry, rest } = splitRegistry(text);
  const [remote = ""] = rest.split(":", 1);
  if (remote.toLowerCase() !== remote) {
    return `invalid reference format: repository name (${remote}) must be lowercase`;
  }
  const [named = "", digest, ...more] = rest.split("@");
  const colon = named.indexOf(":");
  const repository = colon < 0 ? named : named.slice(0, colon);
  const tag = colon < 0 ? undefined : named.slice(colon + 1);
  const isRest =
    repository.split("/").every((part) => PATH_PART.test(part)) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest)) &&
    more.length === 0;
  if (!isRest) return INVALID;
  // A first part that is no registry may still be part of a path.
  if (!REGISTRY.test(registry) && !PATH_PART.test(registry)) {
    return PATH_PART.test(registry.toLowerCase()) ? "repository name must be lowercase" : INVALID;
  }
  if (repository.length > MAX_PATH) return `repository name must not be more than ${MAX_PATH} characters`;
  const problem = digest === undefined ? undefined : checksumProblem(digest);
  if (problem !== undefined) return problem;
  return omitUndefined({ registry, repository, tag, digest });
}

const INVALID = "invalid reference format";

function checksumProblem(digest: string): string | undefined {
  const [algorithm = "", encoded = ""] = digest.split(":");
  const digits = CHECKSUM_DIGITS.get(algorithm);
  if (digits === undefined) {
    return CHECKSUM_NAME.test(digest) ? "unsupported digest algorithm" : "invalid checksum digest format";
  }
  if (encoded.length !== digits) return "invalid checksum digest length";
  return /^[a-f0-9]+$/.test(encoded) ? undefined : "invalid checksum digest format";
}

/** The first part is a registry if it has a dot, a port or an upper-case letter, or is localhost. */
function splitRegistry(text: string): { registry: string; rest: string } {
  const slash = text.indexOf("/");
  if (slash < 0) return { registry: HUB, rest: `library/${text}` };
  const first = text.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === "localhost" || first.toLowerCase() !== first;
  if (!isHost) return { registry: HUB, rest: text };
  const registry = first === OLD_HUB ? HUB : first;
  const rest = text.slice(slash + 1);
  return { registry, rest: registry === HUB && !rest.includes("/") ? `library/${rest}` : rest };
}

const HUB = "docker.io";
const OLD_HUB = "index.docker.io";

/** The API's imagePullPolicy: Always for latest or no tag, else IfNotPresent. A name that cannot be read has no tag. */
export function defaultPullPolicy(image: string): PullPolicy {
  const name = parseImageName(image);
  if (name === undefined) return "IfNotPresent";
  const tag = name.tag ?? (name.digest === undefined ? "latest" : "");
  return tag === "latest" ? "Always" : "IfNotPresent";
}
