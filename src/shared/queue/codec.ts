// How a record becomes bytes and back. Codecs themselves live beside their record types in shared/contracts.

export interface Codec<T> {
  encode(value: T): Uint8Array;
  /** `bytes` is private, unshared memory that is never written again: views into it may be kept. */
  decode(bytes: Uint8Array): T;
}

/** Bytes as they are. */
export const bytesCodec: Codec<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes };
