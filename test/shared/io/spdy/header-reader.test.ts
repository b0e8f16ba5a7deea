// Headers of SPDY streams. What any compressor of the protocol writes is read back; what no peer sends is refused.

import { deepEqual, throws } from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { constants, createDeflate, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { DICTIONARY } from "../../../../src/shared/io/spdy/dictionary.js";
import { SpdyError } from "../../../../src/shared/io/spdy/frames.js";
import { headerBlock } from "../../../../src/shared/io/spdy/header-block.js";
import { SpdyHeaderReader } from "../../../../src/shared/io/spdy/header-reader.js";

const name = fc.stringMatching(/^[a-z-]{1,20}$/);
const blocks = fc.array(fc.dictionary(name, fc.string({ maxLength: 300 }), { noNullPrototype: true, maxKeys: 8 }), {
  maxLength: 8,
});

const plainOf = (headers: Readonly<Record<string, string>>): Buffer => {
  const length = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const text = (value: string): Buffer => Buffer.concat([length(Buffer.byteLength(value)), Buffer.from(value)]);
  const pairs = Object.entries(headers);
  return Buffer.concat([length(pairs.length), ...pairs.flatMap(([key, value]) => [text(key), text(value)])]);
};

/** The blocks of one connection, as zlib with the preset dictionary compresses them. */
async function compressed(plains: readonly Buffer[]): Promise<Buffer[]> {
  const deflate = createDeflate({ dictionary: DICTIONARY, level: 9, flush: constants.Z_SYNC_FLUSH });
  const out: Buffer[] = [];
  for (const plain of plains) {
    const parts: Buffer[] = [];
    const take = (part: Buffer): unknown => parts.push(part);
    deflate.on("data", take);
    deflate.write(plain);
    await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, () => resolve()));
    deflate.off("data", take);
    out.push(Buffer.concat(parts));
  }
  deflate.destroy();
  await once(deflate, "close");
  return out;
}

const asObject = (pairs: ReadonlyMap<string, string>) => Object.fromEntries(pairs);

test("compressed headers of a connection are read back, stream after stream", async () => {
  await fc.assert(
    fc.asyncProperty(blocks, async (all) => {
      const reader = new SpdyHeaderReader();
      const wire = await compressed(all.map(plainOf));
      deepEqual(
        wire.map((block) => asObject(reader.read(block))),
        all.map((headers) => ({ ...headers })),
      );
    }),
    { numRuns: 50 },
  );
});

test("headers that the kubelet writes are read back", () => {
  fc.assert(
    fc.property(blocks, (all) => {
      const reader = new SpdyHeaderReader();
      const read = all.map((headers, index) => asObject(reader.read(headerBlock(headers, index === 0))));
      deepEqual(
        read,
        all.map((headers) => ({ ...headers })),
      );
    }),
    { numRuns: 50 },
  );
});

test("a block that inflates to more than 64 KiB, or ends too early, or is no deflate is refused", () => {
  const head = Buffer.of(0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2);
  const first = (plain: Buffer): Buffer => Buffer.concat([head, deflateRawSync(plain)]);
  for (const block of [
    first(Buffer.alloc(1_000_000)),
    first(Buffer.of(0, 0, 0, 1, 0, 0, 0, 200, 65)),
    first(Buffer.of(0xff, 0xff, 0xff, 0xff)),
    Buffer.concat([head, Buffer.of(0xff, 0xff, 0xff)]),
  ]) {
    throws(() => new SpdyHeaderReader().read(block), SpdyError);
  }
});
