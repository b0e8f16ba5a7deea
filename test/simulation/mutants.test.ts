// The mutants still apply to the sources.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { mutated, sourceOf } from "./driver/bundle.js";
import { MUTANTS } from "./mutants/all.js";
import { FINDERS } from "./mutants/finders.js";
import { RACES } from "./races/all.js";

for (const mutant of MUTANTS) {
  test(`the mutant "${mutant.name}" changes its source`, async () => {
    const source = await readFile(sourceOf(mutant), "utf8");
    assert.notEqual(mutated(mutant, source), source);
  });
}

test("each run that has found a mutant names one that is there, and a race that is there", () => {
  const mutants = new Set(MUTANTS.map(({ name }) => name));
  const races = new Set(RACES.map(({ name }) => name));
  for (const [mutant, finder] of FINDERS) {
    assert.ok(mutants.has(mutant), mutant);
    if ("race" in finder) assert.ok(races.has(finder.race), finder.race);
  }
});
