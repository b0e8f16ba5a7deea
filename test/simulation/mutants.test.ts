// The mutants still apply to the sources.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { mutated, sourceOf } from "./driver/bundle.js";
import { MUTANTS } from "./mutants/all.js";

for (const mutant of MUTANTS) {
  test(`the mutant "${mutant.name}" changes its source`, async () => {
    const source = await readFile(sourceOf(mutant), "utf8");
    assert.notEqual(mutated(mutant, source), source);
  });
}
