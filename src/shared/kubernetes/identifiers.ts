// Identifiers of pods.

/** metadata.uid of a pod. */
export type PodUid = string;

/** The UID of a pod that was read from a message, a file or a path. */
export function podUid(uid: string): PodUid {
  return uid;
}
