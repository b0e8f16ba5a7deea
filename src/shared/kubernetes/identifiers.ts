// Identifiers of pods, each a type of its own: the compiler refuses an id of one kind where another's is wanted.

declare const kind: unique symbol;

/** metadata.uid of a pod. */
export type PodUid = string & { readonly [kind]: "pod" };

/** The UID of a pod that was read from a message, a file or a path. */
export function podUid(uid: string): PodUid {
  return uid as PodUid;
}
