// The page size in the auxiliary vector that the kernel gives each process.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { endianness } from "node:os";
import { test } from "node:test";
import { pageSizeIn, readPageSize } from "../../../src/main/resources/page-size.js";

function vector(wordBytes: 4 | 8, ...words: number[]): Buffer {
  const bytes = Buffer.alloc(words.length * wordBytes);
  const little = endianness() === "LE";
  for (const [index, word] of words.entries()) {
    if (wordBytes === 4) bytes[little ? "writeUInt32LE" : "writeUInt32BE"](word, index * 4);
    else bytes[little ? "writeBigUInt64LE" : "writeBigUInt64BE"](BigInt(word), index * 8);
  }
  return bytes;
}

for (const wordBytes of [4, 8] as const) {
  test(`words of ${wordBytes} bytes: the value beside type 6, before the end of the vector`, () => {
    assert.equal(pageSizeIn(vector(wordBytes, 33, 6, 6, 65_536, 0, 0), wordBytes), 65_536n);
    assert.equal(pageSizeIn(vector(wordBytes, 33, 6, 0, 0, 6, 65_536), wordBytes), undefined);
    assert.equal(pageSizeIn(vector(wordBytes, 33, 1, 6), wordBytes), undefined, "cut off");
  });
}

test("this machine's page size equals getconf's; without the file it is the smallest", async () => {
  const said = execFileSync("getconf", ["PAGESIZE"], { encoding: "utf8" }).trim();
  assert.equal(await readPageSize(), BigInt(said));
  assert.equal(await readPageSize("/nonexistent"), 4096n);
});
