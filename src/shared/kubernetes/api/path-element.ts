// Names of pods, containers and volumes become elements of paths, below which the kubelet makes, mounts and removes
// files. The API server checks them; the kubelet does not rely on it.

import { OperatorError } from "../../base/errors/operator-error.js";

/** NAME_MAX of Linux. */
const LONGEST_BYTES = 255;

/** Is this name one element of a path? */
export function isPathElement(name: string): boolean {
  return (
    name !== "" &&
    name !== "." &&
    name !== ".." &&
    !name.includes("/") &&
    !name.includes("\0") &&
    Buffer.byteLength(name) <= LONGEST_BYTES
  );
}

/** Returns the name. @throws OperatorError unless it is one element of a path */
export function pathElement(name: string): string {
  if (isPathElement(name)) return name;
  const shown = name.length > LONGEST_BYTES ? `${name.slice(0, LONGEST_BYTES)}…` : name;
  throw new OperatorError(`the name ${JSON.stringify(shown)} cannot name a file`);
}
