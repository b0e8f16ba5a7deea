// The table of limits and the constants of the sources belong together: docs/reference/limits.md has no row without its
// constant, and no constant named as a limit is without a row or a reason for none.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { OTHER_LIMITS } from "../../../tools/docs/limit-rows/others.js";
import { LIMITS, limitsPage } from "../../../tools/docs/limits.js";
import { globSync } from "../../harness/glob.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");
const NAMED =
  /^(?:export )?const ((?:[A-Z0-9]+_)*(?:MAX|LIMIT|LIMITS|LONGEST|MOST|LARGEST|CAP|DEEPEST)(?:_[A-Z0-9]+)*)\b[^=\n]*=/gm;
/** Times, and words for no limit at all. */
const NO_SIZE = /_MS$|^NO_/;

async function namedLimits(): Promise<string[]> {
  const found: string[] = [];
  for (const room of ["main", "workers", "shared"]) {
    for (const name of globSync(join(ROOT, "src", room), ".ts")) {
      const file = `src/${room}/${name}`;
      if (file.includes("/gen/")) continue;
      const text = await readFile(join(ROOT, file), "utf8");
      for (const [, limit = ""] of text.matchAll(NAMED)) if (!NO_SIZE.test(limit)) found.push(`${file}: ${limit}`);
    }
  }
  return found.sort();
}

test("every constant that is named as a limit has a row in the reference, or is listed among the others", async () => {
  const rows = Object.values(LIMITS).flat();
  const listed = [...rows.map(({ of: [file, name] }) => `${file}: ${name}`), ...Object.values(OTHER_LIMITS).flat()];
  assert.equal(
    new Set(listed).size,
    new Set(rows.map(({ of }) => of.join(": "))).size + Object.values(OTHER_LIMITS).flat().length,
  );
  const found = await namedLimits();
  assert.deepEqual(
    found.filter((name) => !listed.includes(name)),
    [],
    "neither a row in tools/docs/limit-rows nor in its others.ts",
  );
  const others = Object.values(OTHER_LIMITS).flat();
  assert.deepEqual(
    others.filter((name) => !found.includes(name)),
    [],
    "listed, and not in the sources",
  );
});

test("each row's constant is declared in its file", async () => {
  for (const {
    of: [file, name],
    value,
  } of Object.values(LIMITS).flat()) {
    assert.match(await readFile(join(ROOT, file), "utf8"), new RegExp(`^export const ${name}\\b`, "m"), file);
    assert.ok(Number.isInteger(value) && value > 0, name);
  }
});

test("the page shows the values of the code in units that people read", () => {
  const page = limitsPage();
  for (const text of ["| 10 MiB |", "| 512 KiB |", "| 128 bytes |", "| 10,000 names |", "| 64 look-ups |"]) {
    assert.ok(page.includes(text), text);
  }
});
