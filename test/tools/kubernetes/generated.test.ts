// The generated files are what the generator writes from the contract, and nothing else lies beside them.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { formatEnums, formatMessages } from "../../../tools/kubernetes/contract.js";
import { generate } from "../../../tools/kubernetes/generate.js";
import { PACKAGES } from "../../../tools/kubernetes/roots.js";
import { readTables } from "../../../tools/kubernetes/tables.js";
import { globSync } from "../../harness/glob.js";

// This file runs from dist/test/tools/kubernetes.
const ROOT = resolve(import.meta.dirname, "../../../..");
const CONTRACT = join(ROOT, "tools/kubernetes/contract");
const contract = await readTables(ROOT);
const files = generate(contract);

test("each generated file is what `npm run generate:kubernetes` writes", async () => {
  assert.ok(files.size >= 3);
  for (const [path, text] of files) assert.equal(await readFile(join(ROOT, path), "utf8"), text, path);
});

test("a folder of generated files has no other files", () => {
  const folders = new Set([...files.keys()].map((path) => dirname(path)).filter((path) => path.endsWith("/gen")));
  const there = [...folders].flatMap((folder) => globSync(join(ROOT, folder), "").map((name) => `${folder}/${name}`));
  assert.deepEqual(
    there.filter((path) => !files.has(path)),
    [],
  );
});

test("the tables of the contract are in the form that the program writes", async () => {
  for (const { name } of PACKAGES) {
    const own = [...contract.messages.values()].filter((one) => one.name.startsWith(`${name}.`));
    assert.equal(await readFile(join(CONTRACT, `${name}.tsv`), "utf8"), formatMessages(own), name);
  }
  assert.equal(await readFile(join(CONTRACT, "enums.tsv"), "utf8"), formatEnums([...contract.enums.values()]));
});
