// The position of a walk as bytes: name and position of each directory from the root on. Main passes the bytes from one
// job to the next and does not read them.

export interface PlaceLevel {
  /** One character per byte; "" for the root. */
  name: string;
  /** After the last visited entry. */
  position: bigint;
  /** All its entries have been visited. */
  done: boolean;
}

/** Length of the name, position, done. */
const HEAD = 2 + 8 + 1;

/** Bytes of a level with that name. */
export function placeBytes(name: string): number {
  return HEAD + name.length;
}

export function encodePlace(levels: readonly PlaceLevel[]): Uint8Array {
  const length = levels.reduce((sum, { name }) => sum + placeBytes(name), 0);
  // Not from Node's pool of small buffers: a transfer would move the whole pool.
  const bytes = Buffer.from(new ArrayBuffer(length));
  let at = 0;
  for (const { name, position, done } of levels) {
    at = bytes.writeUInt16LE(name.length, at);
    at = bytes.writeBigInt64LE(position, at);
    at = bytes.writeUInt8(done ? 1 : 0, at);
    at += bytes.write(name, at, "latin1");
  }
  return bytes;
}

export function decodePlace(place: Uint8Array): PlaceLevel[] {
  const bytes = Buffer.from(place.buffer, place.byteOffset, place.byteLength);
  const levels: PlaceLevel[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt16LE(at);
    const name = bytes.toString("latin1", at + HEAD, at + HEAD + length);
    levels.push({ name, position: bytes.readBigInt64LE(at + 2), done: bytes.readUInt8(at + 10) === 1 });
    at += HEAD + length;
  }
  return levels;
}
