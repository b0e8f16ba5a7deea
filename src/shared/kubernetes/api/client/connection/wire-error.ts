/** The API server or a proxy did not accept or keep a connection; the caller only reports the message. */
export class WireError extends Error {
  override readonly name = "WireError";
}
