// Counts the fields of an encoded protobuf message without decoding it: millions of empty ones fit into a message of
// some megabytes, and each becomes an object.

import { BinaryReader } from "@bufbuild/protobuf/wire";

/**
 * True if the message has more than `most` fields, its repeated ones counted each.
 * @throws for bytes that are no message
 */
export function hasMoreFields(bytes: Uint8Array, most: number): boolean {
  const reader = new BinaryReader(bytes);
  for (let count = 0; reader.pos < reader.len;) {
    if (++count > most) return true;
    const [field, type] = reader.tag();
    reader.skip(type, field);
  }
  return false;
}
