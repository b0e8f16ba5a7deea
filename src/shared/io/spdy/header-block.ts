// Encodes the headers of a SPDY stream: names and values with their lengths, in the connection's zlib stream. They are
// not compressed: a stream has a few dozen bytes of them, once. Deflate's stored blocks need neither the dictionary nor
// a compressor for the whole connection.

/** zlib's head for a stream with a preset dictionary, and the Adler-32 of that of SPDY/3. */
const ZLIB_HEAD = Buffer.of(0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2);
/** An empty stored block: zlib's sync flush, where the reader of a block stops. */
const SYNC = Buffer.of(0, 0, 0, 0xff, 0xff);
const MAX_STORED = 0xffff;

/**
 * @param headers names in lower case
 * @param first whether the connection has carried none before
 */
export function headerBlock(headers: Readonly<Record<string, string>>, first: boolean): Buffer {
  const pairs = Object.entries(headers);
  const plain = Buffer.concat([
    length(pairs.length),
    ...pairs.flatMap(([name, value]) => [text(name.toLowerCase()), text(value)]),
  ]);
  if (plain.length > MAX_STORED) throw new RangeError(`${plain.length} bytes of headers are more than one block holds`);
  const stored = Buffer.alloc(5);
  stored.writeUInt16LE(plain.length, 1);
  stored.writeUInt16LE(plain.length ^ 0xffff, 3);
  return Buffer.concat([...(first ? [ZLIB_HEAD] : []), stored, plain, SYNC]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "utf8");
  return Buffer.concat([length(bytes.length), bytes]);
}

function length(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer;
}
