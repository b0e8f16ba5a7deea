import assert from "node:assert/strict";
import { test } from "node:test";
import { Output } from "../../../src/workers/dockershim/exec/exec-sync.js";

const MIB = 1024 * 1024;

test("a command's output in parts of one byte takes no more memory than its bytes twice", () => {
  const output = new Output();
  for (let at = 0; at < MIB; at++) output.add(Buffer.of(0x61));
  assert.equal(output.bytes().length, MIB);
  assert.ok(output.held <= 2 * MIB);
  for (let at = 0; at < 20; at++) output.add(Buffer.alloc(MIB, "b"));
  assert.equal(output.bytes().length, 16 * MIB - 4096, "the rest is dropped");
  assert.equal(output.bytes().toString("latin1", MIB - 1, MIB + 1), "ab");
});
