// eslint.floors.js against the tree: every room of src/main has its floor, and every floor's rooms exist.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "../../..");

test("every room of src/main is on one floor", async () => {
  const { FLOORS } = (await import(join(ROOT, "eslint.floors.js"))) as { FLOORS: string[][] };
  const rooms = readdirSync(join(ROOT, "src/main"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  assert.deepEqual(FLOORS.flat().sort(), rooms.sort());
});
