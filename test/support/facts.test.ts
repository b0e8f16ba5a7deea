import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { copyOf, facts, FACTS_NAMES, originalOf } from "./facts.js";

for (const name of FACTS_NAMES) {
  test(`${name}: rows are whole`, () => {
    const rows = facts(name);
    ok(rows.length > 20);
    const columns = Object.keys(rows[0] ?? {}).length;
    for (const line of copyOf(name).trimEnd().split("\n")) ok(line.split("\t").length <= columns, line);
  });

  const original = originalOf(name);
  test(
    `${name}: the copy is the original's`,
    { skip: original === undefined && "no original beside the project" },
    () => equal(copyOf(name), original),
  );
}
