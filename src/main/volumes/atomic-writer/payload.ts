// The files that an atomic writer puts into a volume, by their path in it. Paths come from objects of the API and from
// pods.
// Invariant: no path leads out of the volume or to the writer's own names, which all begin with "..". The sum of the
// files is bounded: a pod may name one large text as thousands of files.

import { payloadPathError, payloadTooBigError } from "../errors.js";

export interface PayloadFile {
  data: Uint8Array | string;
  /** Permission bits; the umask does not count. */
  mode: number;
  /** The owner of the file; the kubelet's own user when absent. */
  user?: number | undefined;
}

/** By path, relative to the volume. */
export type Payload = ReadonlyMap<string, PayloadFile>;

const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;

/**
 * Bytes of all files of a volume: far above the objects of 1 MiB that a volume is made of. Most volumes are memory of
 * the node.
 */
export const MOST_BYTES = 64 * 1024 ** 2;

/** @throws VolumeError */
export function checkPayload(payload: Payload): void {
  let bytes = 0;
  for (const [path, { data }] of payload) {
    const problem = problemOf(path);
    if (problem !== undefined) throw payloadPathError(path, problem);
    bytes += Buffer.byteLength(data);
    if (bytes > MOST_BYTES) throw payloadTooBigError(MOST_BYTES);
  }
  checkOverlap(payload.keys());
}

/** First parts of the paths: the names that are visible in the volume's directory. */
export function visibleNames(paths: Iterable<string>): Set<string> {
  const names = new Set<string>();
  for (const path of paths) names.add(path.split("/", 1)[0] ?? path);
  return names;
}

function problemOf(path: string): string | undefined {
  if (path === "") return "it is empty";
  if (path.startsWith("/")) return "it must be relative";
  if (path.includes("\0")) return "it contains a NUL";
  if (Buffer.byteLength(path) > LONGEST_PATH) return `it is longer than ${LONGEST_PATH} bytes`;
  const parts = path.split("/");
  if (parts.includes("..")) return 'it must not contain ".."';
  if (parts[0]?.startsWith("..") === true) return 'it must not begin with ".."';
  if (parts.some((part) => part === "" || part === ".")) return 'it must not contain "." or empty parts';
  if (parts.some((part) => Buffer.byteLength(part) > LONGEST_NAME)) {
    return `a part of it is longer than ${LONGEST_NAME} bytes`;
  }
  return undefined;
}

/**
 * A path that is a file cannot be the directory of another one. With the lowest character between their parts, the
 * paths below a file follow it directly.
 */
function checkOverlap(paths: Iterable<string>): void {
  let above: string | undefined;
  for (const path of [...paths].map((one) => one.replaceAll("/", "\0")).sort()) {
    if (above !== undefined && path.charCodeAt(above.length) === 0 && path.startsWith(above)) {
      throw payloadPathError(path.replaceAll("\0", "/"), `${above.replaceAll("\0", "/")} is a file already`);
    }
    above = path;
  }
}
