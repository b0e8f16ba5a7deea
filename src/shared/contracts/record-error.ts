/** A record of a ring queue cannot be encoded, or its bytes are no record of this kind. */
export class RecordError extends Error {
  override readonly name = "RecordError";
}
