// Identifiers of pods, PodSandboxes and containers, each a type of its own: the compiler refuses an id of one kind
// where another is wanted.

declare const kind: unique symbol;

/** metadata.uid of a pod. */
export type PodUid = string & { readonly [kind]: "pod" };

/** The UID of a pod that was read from a message, a file or a path. */
export function podUid(uid: string): PodUid {
  return uid as PodUid;
}

/** The runtime's id of a container: not the API's containerID, which begins with the runtime's name. */
export type ContainerId = string & { readonly [kind]: "container" };

/** The id of a container that was read from the runtime's reply, a message or a file. */
export function containerIdOf(id: string): ContainerId {
  return id as ContainerId;
}

/** The runtime's id of a PodSandbox. */
export type SandboxId = string & { readonly [kind]: "sandbox" };

/** The id of a PodSandbox that was read from the runtime's reply, a message or a file. */
export function sandboxIdOf(id: string): SandboxId {
  return id as SandboxId;
}
