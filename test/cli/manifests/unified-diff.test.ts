// The differences of texts, compared with those of diff -u.

import { equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { unifiedDiff } from "../../../src/cli/manifests/unified-diff.js";

const folder = mkdtempSync(join(tmpdir(), "nodelet-diff-"));
after(() => rmSync(folder, { recursive: true }));
const NAMES = { from: "a", to: "b" };
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** The second text as patch(1) makes it of the first. */
function patched(from: string, diff: string): string {
  const file = join(folder, "file");
  writeFileSync(file, from);
  writeFileSync(join(folder, "diff"), diff);
  const { status, stdout, stderr } = spawnSync("patch", ["-s", "-o", "-", file, join(folder, "diff")], {
    encoding: "utf8",
  });
  equal(status, 0, stderr);
  return stdout;
}

/** Applies the hunks by their line numbers, as a reader would. */
function applied(from: string, diff: string): string {
  const old = from === "" ? [] : from.replace(/\n$/, "").split("\n");
  const made: string[] = [];
  let [at, left] = [0, 0];
  for (const line of diff.split("\n").slice(2, -1)) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/.exec(line);
    if (head !== null && left === 0) {
      const [, start = "", count = "1", , added = "1"] = head;
      const until = count === "0" ? Number(start) : Number(start) - 1;
      made.push(...old.slice(at, until));
      at = until;
      left = Number(count) + Number(added);
      continue;
    }
    if (!line.startsWith("+")) equal(old[at++], line.slice(1));
    if (!line.startsWith("-")) made.push(line.slice(1));
    left -= line.startsWith(" ") ? 2 : 1;
  }
  equal(left, 0);
  return text([...made, ...old.slice(at)]);
}

test("equal texts have no difference", () => {
  equal(unifiedDiff("a\n", "a\n", NAMES), "");
  equal(unifiedDiff("", "", NAMES), "");
});

test("a changed line has three lines around it", () => {
  const lines = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
  const changed = lines.with(4, "five");
  equal(
    unifiedDiff(text(lines), text(changed), NAMES),
    "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
  );
});

test("property: the hunks of any two texts make the second of the first", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", "spec:", "  - name: x"), { maxLength: 40 });
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      const diff = unifiedDiff(text(a), text(b), NAMES);
      equal(diff === "" ? text(a) : applied(text(a), diff), text(b));
    }),
  );
});

test("texts that differ in very many lines are shown as replaced", () => {
  const [a, b] = ["a", "b"].map((letter) => text(Array.from({ length: 3000 }, (_, index) => `${letter}${index}`)));
  const diff = unifiedDiff(a ?? "", b ?? "", NAMES);
  equal(applied(a ?? "", diff), b);
});

test("patch(1) understands the format", { skip: spawnSync("patch", ["--version"]).error !== undefined }, () => {
  const [a, b] = [text(["x", "y", "z"]), text(["x", "Y", "z", "end"])];
  equal(patched(a, unifiedDiff(a, b, NAMES)), b);
});
