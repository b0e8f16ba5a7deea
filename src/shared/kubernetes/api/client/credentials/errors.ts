// Errors of client credentials and of the CA bundle.

/** A file or a plugin provides no usable credential. */
export class CredentialError extends Error {
  override readonly name = "CredentialError";
}
