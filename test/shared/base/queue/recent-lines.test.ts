// The last log lines in shared memory: which stay, and what a reader sees beside a writer.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RecentWord } from "../../../../src/shared/base/queue/layout.js";
import { createRecentLines, RecentLines } from "../../../../src/shared/base/queue/recent-lines.js";

const bytes = (text: string): Uint8Array => Buffer.from(text);

test("the newest whole lines are kept, for any lines", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", "é"), maxLength: 40 });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
      const recent = new RecentLines(createRecentLines(64));
      for (const one of lines) recent.append(bytes(`${one}\n`));
      const text = recent.text();
      const all = lines.map((one) => `${one}\n`).join("");
      assert.ok(all.endsWith(text), JSON.stringify({ all, text }));
      assert.ok(text === all || Buffer.byteLength(all) >= 64);
      // Nothing that would have fitted is left out: the next older line is longer than the space that is left.
      const older = all
        .slice(0, all.length - text.length)
        .split("\n")
        .at(-2);
      if (older !== undefined) assert.ok(Buffer.byteLength(`${older}\n${text}`) >= 64);
    }),
  );
});

test("of a line longer than the memory nothing is shown, and the next line is whole", () => {
  const recent = new RecentLines(createRecentLines(64));
  recent.append(bytes(`${"x".repeat(200)}\n`));
  assert.equal(recent.text(), "");
  recent.append(bytes("next\n"));
  assert.equal(recent.text(), "next\n");
});

test("positions beyond 2^32 lose no line", () => {
  const buffer = createRecentLines(64);
  const words = new Int32Array(buffer.memory);
  words[RecentWord.tail] = -8;
  words[RecentWord.reserved] = -8;
  words[RecentWord.full] = 1;
  const recent = new RecentLines(buffer);
  for (const line of ["abc\n", "0123456789\n", "next\n"]) recent.append(bytes(line));
  assert.equal(recent.text(), "0123456789\nnext\n");
});

test("a reader leaves out the bytes that a writer has reserved meanwhile", () => {
  const buffer = createRecentLines(64);
  const recent = new RecentLines(buffer);
  for (let n = 0; n < 16; n++) recent.append(bytes(`line ${n.toString(16)}\n`));
  assert.match(recent.text(), /^line 7\n/);
  const words = new Int32Array(buffer.memory);
  words[RecentWord.reserved] = (words[RecentWord.tail] ?? 0) + 14;
  assert.match(recent.text(), /^line 9\n/);
});
