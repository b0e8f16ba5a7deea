// Why a client cannot prove who it is, or whom it trusts.

/** A file, or a plugin, gives no usable credential. */
export class CredentialError extends Error {
  override readonly name = "CredentialError";
  readonly code = "API_CREDENTIAL";
}
export const isCredentialError = (error: unknown): error is CredentialError => error instanceof CredentialError;
