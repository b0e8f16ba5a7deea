// The walks of docs/howto.md lead from file to file as the code does. A file uses the first function of the next
// entry. A walk has at most one port, where "go to definition" stops at an interface.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

interface Entry {
  mark: string | undefined;
  file: string;
  names: string[];
}

/** "1. *(port)* `file`: `name`, `name`. More text." */
const ENTRY = /^(\d+)\. (?:\*\((\w+)\)\* )?`([^`]+)`: ((?:`\w+`(?:, )?)+)/;

/** The numbered lists of the section, each a walk. */
function walks(): Entry[][] {
  const [, section = ""] = read("docs/howto.md").split("## Follow a pod through the code\n");
  const found: Entry[][] = [];
  for (const line of section.split("\n")) {
    const [, number, mark, file = "", names = ""] = ENTRY.exec(line) ?? [];
    if (number === undefined) continue;
    if (number === "1") found.push([]);
    found.at(-1)?.push({ mark, file, names: [...names.matchAll(/\w+/g)].map(([name]) => name) });
  }
  return found;
}

const uses = (file: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(read(file));

test("each file of a walk has the functions that the walk names", () => {
  assert.equal(walks().length, 6);
  const missing = walks()
    .flat()
    .flatMap(({ file, names }) => names.filter((name) => !uses(file, name)).map((name) => `${file}: ${name}`));
  assert.deepEqual(missing, []);
});

test("each file of a walk uses the first function of the next one; a ring passes records instead", () => {
  const broken = walks().flatMap((walk) =>
    walk.slice(1).flatMap(({ mark, file, names }, index) => {
      const [name = ""] = names;
      const before = walk[index]?.file ?? "";
      return mark === "ring" || uses(before, name) ? [] : [`${before} does not use ${name} of ${file}`];
    }),
  );
  assert.deepEqual(broken, []);
});

test("a walk passes at most one port", () => {
  for (const walk of walks()) {
    assert.ok(walk.length > 2);
    assert.ok(walk.filter(({ mark }) => mark === "port").length <= 1, JSON.stringify(walk));
  }
});
