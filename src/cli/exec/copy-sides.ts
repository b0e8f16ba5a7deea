// The two sides of nodelet cp, and the names in the archive between them. One side is a path of this machine, the
// other "[<namespace>/]<pod>:<path>". Pure.

import { posix } from "node:path";
import { CliError, EXIT } from "../errors.js";
import { MissingArgumentError } from "../usage-errors.js";

export interface PodSide {
  /** "name" or "namespace/name". */
  pod: string;
  /** In the container, without a slash at its end. */
  path: string;
}

export interface Copy {
  side: PodSide;
  local: string;
  /** Out of the container. */
  out: boolean;
}

const USAGE = "nodelet cp <pod>:<path> <path>, or nodelet cp <path> <pod>:<path>";

/** @throws CliError unless exactly one side is a pod's */
export function parseCopy(source: string, target: string): Copy {
  const from = podSide(source);
  const to = podSide(target);
  if (from !== undefined && to === undefined) return { side: from, local: target, out: true };
  if (to !== undefined && from === undefined) return { side: to, local: source, out: false };
  throw new MissingArgumentError("one side names a pod (<pod>:<path>), the other a path of this machine");
}

/** A text that begins with "/" or "." is a path of this machine, even with colons. */
function podSide(text: string): PodSide | undefined {
  const found = /^([^/.:][^/:]*(?:\/[^/:]+)?):(.+)$/s.exec(text);
  if (found === null) return undefined;
  const [, pod = "", named = ""] = found;
  const path = posix.normalize(named).replace(/(?<=.)\/$/, "");
  if (["/", ".", ".."].includes(posix.basename(path)) || path === "/") {
    throw new CliError(EXIT.usage, `${text} has no name of a file or folder at its end`, USAGE);
  }
  return { pod, path };
}
