// Why a pod can't have user ids of its own, for the event of its sandbox.

export class UserNamespaceError extends Error {
  override readonly name = "UserNamespaceError";
}

export function isUserNamespaceError(error: unknown): error is UserNamespaceError {
  return error instanceof UserNamespaceError;
}
