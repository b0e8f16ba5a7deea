// HPACK's decoder: the examples of RFC 7541, every field that a table can hold, and bytes of an enemy.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { Duplex } from "node:stream";
import { describe, test } from "node:test";
import fc from "fast-check";
import { FrameReader } from "../../../../../src/shared/kubernetes/cri/channel/frames/frame-reader.js";
import { FLAG, TYPE } from "../../../../../src/shared/kubernetes/cri/channel/frames/frame-types.js";
import { ConnectionError } from "../../../../../src/shared/kubernetes/cri/channel/frames/http2-errors.js";
import { PREFACE } from "../../../../../src/shared/kubernetes/cri/channel/frames/write-frames.js";
import { HpackDecoder, MAX_LIST_BYTES } from "../../../../../src/shared/kubernetes/cri/channel/hpack/decoder.js";
import { indexed, literal, NO_TABLE } from "../../../../../src/shared/kubernetes/cri/channel/hpack/encode.js";
import { decodeHuffman } from "../../../../../src/shared/kubernetes/cri/channel/hpack/huffman.js";
import { STATIC_TABLE, type Field } from "../../../../../src/shared/kubernetes/cri/channel/hpack/static-table.js";
import { huffman, integer, TestEncoder, type Choice } from "./hpack-encoder.js";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
const field = (line: string): Field => {
  const at = line.indexOf(": ", 1);
  return { name: line.slice(0, at), value: line.slice(at + 2) };
};

const REQUESTS = [
  [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"],
  [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com", "cache-control: no-cache"],
  [
    ...[":method: GET", ":scheme: https", ":path: /index.html", ":authority: www.example.com"],
    "custom-key: custom-value",
  ],
];
const AT_21 = "date: Mon, 21 Oct 2013 20:13:21 GMT";
const LOCATION = "location: https://www.example.com";
const RESPONSES = [
  [":status: 302", "cache-control: private", AT_21, LOCATION],
  [":status: 307", "cache-control: private", AT_21, LOCATION],
  [
    ...[":status: 200", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:22 GMT", LOCATION],
    ...["content-encoding: gzip", "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"],
  ],
];

/** By section of appendix C: blocks of one connection, and their fields. */
const EXAMPLES: readonly (readonly [section: string, blocks: readonly string[], lists: readonly string[][]])[] = [
  ["C.2.1", ["400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"], [["custom-key: custom-header"]]],
  ["C.2.2", ["040c 2f73 616d 706c 652f 7061 7468"], [[":path: /sample/path"]]],
  ["C.2.3", ["1008 7061 7373 776f 7264 0673 6563 7265 74"], [["password: secret"]]],
  ["C.2.4", ["82"], [[":method: GET"]]],
  [
    "C.3",
    [
      "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
      "8286 84be 5808 6e6f 2d63 6163 6865",
      "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ],
    REQUESTS,
  ],
  [
    "C.4",
    [
      "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
      "8286 84be 5886 a8eb 1064 9cbf",
      "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ],
    REQUESTS,
  ],
  [
    "C.6, with a table of 256 bytes",
    [
      `3fe1 01 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718
       63c7 8f0b 97c8 e9ae 82ae 43d3`.replaceAll("\n", ""),
      "4883 640e ffc1 c0bf",
      `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf
       cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`.replaceAll("\n", ""),
    ],
    RESPONSES,
  ],
];

describe("the examples of RFC 7541", () => {
  for (const [section, blocks, lists] of EXAMPLES) {
    test(`the decoder reads ${section}`, () => {
      const decoder = new HpackDecoder();
      assert.deepEqual(
        blocks.map((block) => decoder.decode(hex(block)).fields),
        lists.map((lines) => lines.map(field)),
      );
    });
  }
  test("the decoder reads the integers of C.1", () => {
    // 10 and 1337 with a prefix of five bits: as a change of the table's size, the only such number that is free.
    assert.deepEqual(integer(0x20, 5, 10), hex("2a"));
    assert.deepEqual(integer(0x20, 5, 1337), hex("3f9a0a"));
    const decoder = new HpackDecoder();
    assert.deepEqual(decoder.decode(hex("2a 3f9a0a 82")).fields, [field(":method: GET")]);
  });
});

const someField: fc.Arbitrary<Field> = fc.oneof(
  fc.constantFrom(...STATIC_TABLE),
  fc
    .tuple(
      fc.constantFrom("grpc-status", "grpc-message", "content-type", "x", "traceparent"),
      fc.uint8Array({ maxLength: 90 }),
    )
    .map(([name, bytes]) => ({ name, value: Buffer.from(bytes).toString("latin1") })),
);
const someChoice: fc.Arbitrary<Choice> = fc
  .tuple(fc.constantFrom("indexed", "added", "literal", "never"), fc.boolean(), fc.boolean())
  .map(([form, useIndexOfName, useHuffman]) => ({ form, useIndexOfName, useHuffman }));
const someBlock = fc.record({
  fields: fc.array(someField, { maxLength: 12 }),
  choices: fc.array(someChoice, { minLength: 1, maxLength: 5 }),
  resize: fc.option(fc.integer({ min: 0, max: 4096 }), { nil: undefined }),
});

test("the decoder returns the fields of every block, however the encoder uses its table", () => {
  fc.assert(
    fc.property(fc.array(someBlock, { maxLength: 8 }), (blocks) => {
      const encoder = new TestEncoder();
      const decoder = new HpackDecoder();
      for (const { fields, choices, resize } of blocks) {
        const [first, ...others] = choices;
        if (first === undefined) continue;
        const withResize = resize === undefined ? choices : [{ ...first, resize }, ...others];
        assert.deepEqual(decoder.decode(encoder.encode(fields, withResize)).fields, fields);
      }
    }),
    { numRuns: 300 },
  );
});

test("our requests' fields are read back, and no encoder of ours adds to a table", () => {
  fc.assert(
    fc.property(fc.array(someField, { minLength: 1 }), (fields) => {
      const block = Buffer.concat([NO_TABLE, ...fields.map(({ name, value }) => literal(name, value)), indexed(3)]);
      assert.deepEqual(new HpackDecoder().decode(block).fields, [...fields, field(":method: POST")]);
    }),
  );
});

test("the Huffman code of every string is decoded to the string", () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array).toString("latin1"));
  fc.assert(
    fc.property(bytes, (text) => {
      assert.equal(decodeHuffman(huffman(text)), text);
    }),
  );
});

test("what Node's HTTP/2 sends in its Huffman code is decoded", async (context) => {
  const sent: Buffer[] = [];
  const wire = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      sent.push(chunk);
      done();
    },
  });
  const session = connect("http://localhost", { createConnection: () => wire });
  context.after(() => session.destroy());
  // Each byte that a value may have, among so many short codes that the Huffman code is the shorter one.
  const bytes = [
    9,
    ...Array.from({ length: 95 }, (_, at) => 32 + at),
    ...Array.from({ length: 128 }, (_, at) => 128 + at),
  ];
  const texts = bytes.map((byte) => `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa${String.fromCharCode(byte)}0`);
  wire.push(Buffer.from("000000040000000000", "hex"));
  await once(session, "remoteSettings");
  for (const text of texts) session.request({ value: text }).on("error", () => undefined);
  const values: string[] = [];
  const decoder = new HpackDecoder();
  const reader = new FrameReader(({ type, flags, payload }) => {
    if (type !== TYPE.HEADERS) return;
    const block = (flags & FLAG.PRIORITY) === 0 ? payload : payload.subarray(5);
    values.push(decoder.decode(block).fields.find(({ name }) => name === "value")?.value ?? "");
  });
  let read = 0;
  let skipped = PREFACE.length;
  while (values.length < texts.length) {
    const all = Buffer.concat(sent);
    const from = read + skipped;
    skipped = 0;
    if (all.length > from) reader.push(all.subarray(from));
    read = Math.max(read, all.length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(values, texts);
});

test("arbitrary bytes are decoded or refused as a fault of the connection", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 10 }), (blocks) => {
      const decoder = new HpackDecoder();
      try {
        for (const block of blocks) decoder.decode(Buffer.from(block));
      } catch (error) {
        assert.ok(error instanceof ConnectionError);
      }
    }),
    { numRuns: 2000 },
  );
});

const REFUSED: readonly (readonly [what: string, block: string])[] = [
  ["a table that is larger than allowed", "3fe2 1f"],
  ["a change of the table's size behind a field", "82 20"],
  ["the index 0", "80"],
  ["an index behind both tables", "be"],
  ["a number without an end", "ffff ffff ffff ffff ffff"],
  ["a string that is longer than the block", "400a 61"],
  ["a field without a value", "4001 61"],
  ["padding of more than seven bits", "4081 ff ff 00"],
  ["padding of zeros", "4082 1800 00"],
  ["the end of the string as a symbol", "4084 ffff ffff 00"],
];
for (const [what, block] of REFUSED) {
  test(`${what} is refused as a fault of compression`, () => {
    assert.throws(
      () => new HpackDecoder().decode(hex(block)),
      (error) => error instanceof ConnectionError && error.code === 9,
    );
  });
}

test("fields that left the table are not kept: their numbers are refused", () => {
  const added: Choice = { form: "added", useIndexOfName: false, useHuffman: false };
  const decoder = new HpackDecoder();
  const fields = Array.from({ length: 100 }, (_, at) => ({ name: `n${at}`, value: "x".repeat(100) }));
  decoder.decode(new TestEncoder().encode(fields, [added]));
  // A field takes 134 or 135 bytes of the 4096: the newest thirty are there.
  assert.deepEqual(decoder.decode(integer(0x80, 7, 61 + 30)).fields, [fields[70]]);
  assert.throws(() => decoder.decode(integer(0x80, 7, 61 + 31)), /no field has the number 92/);
});

test("a list that is too long is cut, and later blocks still find its fields", () => {
  const encoder = new TestEncoder();
  const decoder = new HpackDecoder();
  const added: Choice = { form: "added", useIndexOfName: false, useHuffman: false };
  const big = { name: "big", value: "x".repeat(4000) };
  const again: Choice = { ...added, form: "indexed" };
  const { fields, isCut } = decoder.decode(encoder.encode(Array(1000).fill(big) as Field[], [again]));
  assert.equal(isCut, true);
  assert.ok(fields.length * 4035 <= MAX_LIST_BYTES);
  assert.deepEqual(decoder.decode(encoder.encode([big], [again])), { fields: [big], isCut: false });
});
