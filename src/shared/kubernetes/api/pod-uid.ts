// Pod UIDs become names of directories and cgroups, which the kubelet later removes with their content. A UID that is
// a path would make the kubelet remove other files.

import { OperatorError } from "../../base/errors/operator-error.js";
import type { PodUid } from "../identifiers.js";

export function isSafePodUid(uid: string): uid is PodUid {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(uid);
}

/** Returns the UID if it is safe as one path element. @throws OperatorError */
export function safePodUid(uid: string): PodUid {
  if (!isSafePodUid(uid))
    throw new OperatorError(
      `pod UID ${JSON.stringify(uid)} cannot name a directory: use letters, digits, "-", "_" and inner dots, at most 128`,
    );
  return uid;
}
