// Decodes a protobuf message with a bound on its fields. Millions of empty messages fit into a message of some
// megabytes, and each becomes an object: without a bound they fill a thread's heap, or hold it for seconds.

import { BinaryReader } from "@bufbuild/protobuf/wire";

export class BoundedMessageError extends Error {
  override readonly name = "BoundedMessageError";
}

class BoundedReader extends BinaryReader {
  constructor(bytes: Uint8Array, most: number) {
    super(bytes);
    // It is a property of each reader, so a method here would be hidden by it.
    const read = this.uint32.bind(this);
    let reads = 0;
    // Tags and lengths: generated code reads one or two of them for each field, at every depth.
    this.uint32 = () => {
      if (++reads > 2 * most) throw new BoundedMessageError(`the message has more than ${most} fields`);
      return read();
    };
  }
}

/**
 * The argument for a generated `decode`, which takes a reader as well as bytes. Definitions of gRPC methods name bytes
 * only.
 * @param most fields, also in messages within the message
 */
export function boundedMessage(bytes: Uint8Array, most: number): Buffer {
  return new BoundedReader(bytes, most) as unknown as Buffer;
}
