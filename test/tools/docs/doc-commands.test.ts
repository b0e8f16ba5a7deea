// Every command block of the documentation names where it runs; the comparison of shown and printed lines.
// @promise Packages and documents: Every block of commands in the documentation names the test that runs it, or the
//   reason why none does; those for a stand-alone node run on one, and print the output of the page.
// @with test/integration/docs.test.ts

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { globSync } from "../../harness/glob.js";
import { blocksOf, matchesShown, shownIn } from "../../support/doc-blocks.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const DOCUMENTS = [
  ...["README.md", "ARCHITECTURE.md", "SPECIFICATION.md", "CONTRIBUTING.md", "SECURITY.md", "SUPPORT.md"],
  ...globSync(join(ROOT, "docs"), ".md").map((name) => `docs/${name}`),
];
const COMMANDS = new Set(["sh", "console"]);
const OTHERS = new Set(["yaml", "json", "text"]);

test("every block of commands names the environment that runs it, or the reason why none does", () => {
  const wrong = DOCUMENTS.flatMap((document) =>
    blocksOf(readFileSync(join(ROOT, document), "utf8")).flatMap(({ line, language, environment }) => {
      if (OTHERS.has(language)) return [];
      if (!COMMANDS.has(language))
        return [`${document}:${line}: the tag "${language}" is none of sh, console, yaml, json, text`];
      if (environment === undefined) return [`${document}:${line}: no "<!-- run: … -->" before the block`];
      const missing =
        environment.kind === "run by" ? environment.files.filter((file) => !existsSync(join(ROOT, file))) : [];
      return missing.map((file) => `${document}:${line}: ${file} does not exist`);
    }),
  );
  assert.deepEqual(wrong, []);
});

const NEEDS_KUBEADM = "needs kubeadm and a control plane";

test("no block with kubectl is left out, unless it needs a control plane of kubeadm", () => {
  const left = DOCUMENTS.flatMap((document) =>
    blocksOf(readFileSync(join(ROOT, document), "utf8"))
      .filter(({ text, environment }) => {
        const isLeft = environment?.kind === "not run" && !environment.reason.startsWith(NEEDS_KUBEADM);
        return isLeft && /\bkubectl\b/.test(text);
      })
      .map(({ line }) => `${document}:${line}`),
  );
  assert.deepEqual(left, []);
});

test("a comment belongs to the next block only", () => {
  const text = [
    "<!-- run: node -->",
    "",
    "```sh",
    "a",
    "```",
    "```sh",
    "b",
    "```",
    "<!-- run: moon -->",
    "```sh",
    "```",
  ];
  assert.deepEqual(
    blocksOf(text.join("\n")).map(({ line, text: body, environment }) => [line, body, environment?.kind]),
    [
      [3, "a\n", "node"],
      [6, "b\n", undefined],
      [10, "\n", undefined],
    ],
  );
  const other =
    "<!-- run by: test/a.ts, test/b.ts -->\n```sh\n```\n\n  <!-- not run: why -->\n\n  ```console\n  $ x\n  ```\n";
  assert.deepEqual(
    blocksOf(other).map(({ text: body, environment }) => [body, environment]),
    [
      ["\n", { kind: "run by", files: ["test/a.ts", "test/b.ts"] }],
      ["$ x\n", { kind: "not run", reason: "why" }],
    ],
  );
});

test("a console block has commands and their output", () => {
  assert.deepEqual(shownIn("$ one\nout\n  more\n\n$ two\n"), [
    { command: "one", output: ["out", "  more"] },
    { command: "two", output: [] },
  ]);
});

for (const [what, shown, output, matches] of [
  ["numbers, durations and columns", ["a  1/1  Running  0  2s"], "a 1/1    Running 3 1m30s\n", true],
  [
    "times and ids",
    ["since 2026-11-24T10:00:00Z (12s) of 0123456789ab"],
    "since 2027-01-02T03:04:05Z (1m2s) of fedcba9876543210",
    true,
  ],
  ["bars of any width", ["create 12 ms ███████"], "create   3 ms    ██    \n", true],
  [
    "any text for …",
    ["… its message: … no such host …"],
    "error: its message: dial tcp: lookup x: no such host; again",
    true,
  ],
  ["left-out lines", ["head", "…", "tail"], "head\na\nb\ntail\n", true],
  ["left-out lines that are none", ["head", "…", "tail"], "head\ntail\n", true],
  ["a left-out end", ["head", "…"], "head\nmore\n", true],
  ["a beginning that is not shown", ["a  1/1"], "head\na 1/1\n", false],
  ["an end that is not shown", ["a  1/1"], "a 1/1\nmore\n", false],
  ["an end before the beginning", ["abc…abc"], "abc", false],
  ["another word", ["a Running"], "a Pending", false],
  ["lines in another order", ["one", "…", "two"], "two\none", false],
  ["a missing line", ["one", "two"], "one", false],
] as const) {
  test(`shown and printed lines: ${what} ${matches ? "match" : "do not match"}`, () => {
    assert.equal(matchesShown(shown, output), matches);
  });
}
