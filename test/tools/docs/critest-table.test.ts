// docs/critest.md names tests by file and title: each of them exists.
// @promise Packages and documents: Each spec of critest for Linux has a test on a real Docker Engine, or a reason why
//   it does not apply (docs/critest.md).

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const ROOT = new URL("../../../../", import.meta.url);
const read = (path: string): Promise<string> => readFile(new URL(path, ROOT), "utf8");
/** `cri-validation: "title"` or `test/integration/cri-validation.test.ts: "title"`. */
const NAMED_TEST = /(?<![\w-])([\w-]+)(?:\.test\.ts)?: "([^"]+)"/g;

test("each test that the table of critest's specs names exists in its file", async () => {
  const rows = (await read("docs/critest.md")).split("\n").filter((line) => line.startsWith("| "));
  const named = rows.flatMap((row) =>
    [...row.matchAll(NAMED_TEST)].map(([, file = "", title = ""]) => ({ file, title })),
  );
  assert.ok(named.length > 80);
  for (const { file, title } of named) {
    const source = await read(`test/integration/${file}.test.ts`);
    assert.ok(source.includes(`"${title}"`), `${file}: ${title}`);
  }
});

test("each row of the table has a test or a reason", async () => {
  const rows = (await read("docs/critest.md")).split("\n").filter((line) => /^\| (?!spec )/.test(line));
  assert.ok(rows.length > 100);
  for (const row of rows) assert.match(row, /^\| .+ \| .{20,} \|$/);
});
