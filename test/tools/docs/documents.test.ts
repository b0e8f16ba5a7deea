// Documents stay readable: their sizes, and the form of decisions and measurements.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { decisionsPage } from "../../../tools/docs/decisions.js";
import { globSync } from "../../harness/glob.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const ARCHITECTURE_BYTES = 10_240;
const DECISION_WORDS = 450;
/** Two pages. */
const SPECIFICATION_WORDS = 900;

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
/** Words as a reader counts them: bars of tables and list marks are none. */
const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
const DECISIONS = globSync(join(ROOT, "docs/adr"), ".md").filter((name) => /^\d{4}-/.test(name));

test(`ARCHITECTURE.md has at most ${ARCHITECTURE_BYTES} bytes, so that it is read in fifteen minutes`, () => {
  assert.ok(statSync(join(ROOT, "ARCHITECTURE.md")).size <= ARCHITECTURE_BYTES);
});

test(`SPECIFICATION.md has at most ${SPECIFICATION_WORDS} words, which are two pages`, () => {
  const words = wordsOf(read("SPECIFICATION.md"));
  assert.ok(words <= SPECIFICATION_WORDS, `${words} words`);
});

test("bars and dashes of a table are no words", () => {
  assert.equal(wordsOf("| a | b – c |\n|---|---|\n- 1.3 ×"), 4);
});

describe("decisions", () => {
  test("the folder of decisions is read", () => assert.ok(DECISIONS.length > 50));

  test(`every decision has at most ${DECISION_WORDS} words`, () => {
    const long = DECISIONS.map((name) => ({ name, words: wordsOf(read(`docs/adr/${name}`)) }));
    assert.deepEqual(
      long.filter(({ words }) => words > DECISION_WORDS),
      [],
    );
  });

  test("a title names the thing: it is short and has no verb of a sentence", () => {
    const sentences = DECISIONS.map((name) => read(`docs/adr/${name}`).split("\n", 1).join("")).filter(
      (title) => title.length > 75 || / (?:is|are|has|have|was|were|must|may|can) /.test(title),
    );
    assert.deepEqual(sentences, []);
  });

  test("every decision states its context and the decision itself", () => {
    const parts = [/^(?:\*\*(?:Context|Question)\.\*\*|## Context$)/m, /^(?:\*\*Decision\b|## Decision$)/m];
    const without = DECISIONS.filter((name) => !parts.every((part) => part.test(read(`docs/adr/${name}`))));
    assert.deepEqual(without, []);
  });

  test("a superseded decision links its successor", () => {
    const lines = DECISIONS.map((name) => read(`docs/adr/${name}`).split("\n")[2] ?? "");
    const alone = lines.filter((line) => line.includes("superseded") && !/superseded by \[\d{4}\]\(/.test(line));
    assert.deepEqual(alone, []);
  });

  test("a record without area and status is refused by the index", () => {
    const good = "# 0001: Planner\n\nArea: Sync. Status: accepted 2026-11-21, extended by [0002](0002-x.md).\n";
    assert.match(
      decisionsPage(new Map([["0001-planner.md", good]])),
      /\| \[0001\]\(0001-planner\.md\) \| Planner \| accepted 2026-11-21, extended by \[0002\]\(0002-x\.md\) \|/,
    );
    for (const wrong of [good.replace("Area: Sync. ", ""), good.replace("Sync", "Kitchen"), "# Planner\n"]) {
      assert.throws(() => decisionsPage(new Map([["0001-planner.md", wrong]])), /0001-planner\.md does not begin with/);
    }
  });
});

test("every page of docs/measurements is in its index", () => {
  const index = read("docs/measurements/README.md");
  const missing = globSync(join(ROOT, "docs/measurements"), ".md").filter(
    (name) => name !== "README.md" && !index.includes(`](${name})`),
  );
  assert.deepEqual(missing, []);
});
