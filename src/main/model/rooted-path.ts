// Paths in a pod's spec may lack their leading slash. As in upstream, such a path is below the root.

import { posix } from "node:path";

/** An absolute path stays as it is written. */
export function rootedPath(path: string): string {
  return posix.isAbsolute(path) ? path : posix.join("/", path);
}

/** Where a container has the file of its termination message: also without a slash at the end. */
export function messageMountPath(terminationMessagePath: string): string {
  return posix.resolve("/", terminationMessagePath);
}
