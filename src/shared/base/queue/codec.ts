// Conversion of a record to bytes and back. Codecs themselves are beside their record types in shared/contracts.

export interface Codec<T> {
  encode(value: T): Uint8Array;
  /** `bytes` is private, unshared memory that is never written again: views into it may be kept. */
  decode(bytes: Uint8Array): T;
}

/** A codec that passes bytes unchanged. @internal */
export const bytesCodec: Codec<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes };
