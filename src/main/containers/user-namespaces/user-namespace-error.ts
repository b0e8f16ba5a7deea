// The reasons why a pod gets no user namespace: the sandbox's event shows them.

export class UserNamespaceError extends Error {
  override readonly name = "UserNamespaceError";
}
