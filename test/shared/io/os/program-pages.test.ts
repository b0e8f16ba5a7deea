// Which mappings of the program may be given back, and what becomes of a process that does it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rangesIn, writableParts } from "../../../../src/shared/io/os/program-pages.js";

const MAPS = `00400000-00746000 r--p 00000000 fe:00 68 /usr/bin/node
00746000-00749000 r-xp 00346000 fe:00 68 /usr/bin/node
03201000-06b51000 r--p 02e01000 fe:00 68 /usr/bin/node
06b52000-06b56000 r--p 06751000 fe:00 68 /usr/bin/node
06b56000-06b7c000 rw-p 06755000 fe:00 68 /usr/bin/node
0a000000-0b000000 rw-p 00000000 00:00 0 [heap]
7f73ee940000-7f73eeb45000 r-xp 01627000 fe:00 68 /usr/bin/node
7f73f0000000-7f73f0200000 r-xp 00028000 fe:00 99 /lib/libc.so.6
`;

test("the loader's mappings of code and constants are taken; what it wrote into and protected later is not", () => {
  const ranges = rangesIn(MAPS, "/usr/bin/node", [[0x6751000, 0x677c000]]);
  assert.deepEqual(ranges, [
    { start: 0x400000, length: 0x346000 },
    { start: 0x746000, length: 0x3000 },
    { start: 0x3201000, length: 0x3950000 },
  ]);
});

test("nothing is taken of another file, of one with unknown segments, or of a mapping that can be written", () => {
  assert.deepEqual(rangesIn(MAPS, "/usr/bin/other", []), []);
  assert.deepEqual(rangesIn(MAPS, "/usr/bin/node", undefined), []);
  const writable = "00400000-00746000 rwxp 00000000 fe:00 68 /n\n00746000-00749000 r--s 00000000 fe:00 68 /n";
  assert.deepEqual(rangesIn(writable, "/n", []), []);
});

test("a program that was replaced on disk keeps its name in the mappings", () => {
  const maps = "00400000-00746000 r-xp 00000000 fe:00 68                     /usr/bin/my node (deleted)\n";
  assert.equal(rangesIn(maps, "/usr/bin/my node (deleted)", []).length, 1);
});

test("writable segments are read from the head of an ELF file, and from nothing else", async () => {
  const head = (await readFile(process.execPath)).subarray(0, 65_536);
  const parts = writableParts(head);
  assert.ok(parts !== undefined && parts.length > 0);
  for (const [begin, end] of parts) assert.ok(begin % 4096 === 0 && end % 4096 === 0 && end > begin);
  const other = Buffer.from(head);
  other[4] = 1;
  for (const file of [other, Buffer.alloc(0), Buffer.from("#!/bin/sh\n"), head.subarray(0, 70)]) {
    assert.equal(writableParts(file), undefined);
  }
});

test("a process works on after it has given its program's pages back, and holds fewer", async () => {
  const script = fileURLToPath(new URL("./fixtures/program-pages.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  const { before, after, sum } = JSON.parse(stdout) as { before: number; after: number; sum: string };
  assert.equal(sum, createHash("sha256").update(JSON.stringify("1,234,567.5")).digest("hex"));
  assert.ok(before - after > 2, `${before} MiB before, ${after} MiB after`);
});
