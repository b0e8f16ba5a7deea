// Documents and comments name files of this repository, and documents link to headings of each other. These tests fail
// when a named file, a linked heading or an entry of the index of decisions does not exist.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { anchorsOf } from "../../../tools/site/anchors.js";
import { globSync } from "../../harness/glob.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
/** Files that a benchmark run creates: not in the repository. */
const MADE_BY_RUNS = ["bench/results"];

const below = (folder: string, ending: string): string[] =>
  globSync(join(ROOT, folder), ending).map((name) => `${folder}/${name}`);
const SOURCES = ["src", "test", "bench", "tools"].flatMap((folder) => below(folder, ".ts"));
const DOCUMENTS = [
  ...["README.md", "ARCHITECTURE.md", "SPECIFICATION.md", "CONTRIBUTING.md", "CHANGELOG.md"],
  ...["SECURITY.md", "SUPPORT.md"],
  ...below("docs", ".md"),
];
const DECISIONS = below("docs/adr", ".md").map((path) => path.slice(0, "docs/adr/0000".length));
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** A path from the root of the repository, or several: "…/plan*", "…/{plan,restart}.test.ts". */
const FROM_ROOT = /(?<![\w./-])(?:src|test|bench|docs|tools)\/(?:[\w./*-]|\{[\w,./-]+\})*/g;
/** The name of a source or test file, with or without its folder. */
const FILE_NAME = /(?<![\w.-])\w[\w-]*(?:\.[\w-]+)*\.ts\b/g;
/** The last folders and the name of a source file, as comments have it. */
const PARTIAL = /(?<![\w./@-])[a-z][\w-]*\/[\w./-]+\.(?:ts|md)\b/g;

/** A link or picture and its target. Links to other sites are not checked. */
const LINK = /\]\((?!https?:)([^)\s]+)\)/g;

/** The links of a document whose file or heading does not exist. */
function deadLinks(document: string, text: string = read(document)): string[] {
  return [...text.matchAll(LINK)].flatMap(([, target = ""]) => {
    const [file = "", anchor] = target.split("#");
    const path = file === "" ? document : join(document, "..", file);
    if (!existsSync(join(ROOT, path))) return [`${document}: ${target}`];
    const known = anchor === undefined || anchorsOf(file === "" ? text : read(path)).has(anchor);
    return known ? [] : [`${document}: ${target}`];
  });
}

/** The paths that a text names, braces expanded, without the full stop of a sentence. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(FROM_ROOT)].flatMap(([path]) => expand(path.replace(/\.$/, "")));

function expand(path: string): string[] {
  const [braces, names = ""] = /\{([^{}]+)\}/.exec(path) ?? [];
  return braces === undefined ? [path] : names.split(",").flatMap((name) => expand(path.replace(braces, name)));
}

function exists(path: string): boolean {
  if (MADE_BY_RUNS.some((made) => path.startsWith(made))) return true;
  const [start = ""] = path.split("*", 1);
  if (start !== path) return [...SOURCES, ...DOCUMENTS].some((known) => known.startsWith(start));
  return DECISIONS.includes(path) || existsSync(join(ROOT, path));
}

function commentsOf(source: string): string {
  return source
    .split("\n")
    .filter((line) => /^\s*(?:\/\/|\/\*|\*)/.test(line))
    .join("\n");
}

test("every path and every source or test file that a document names exists", () => {
  const files = new Set(SOURCES.map((path) => basename(path)));
  const dead = DOCUMENTS.flatMap((document) => {
    const text = read(document);
    const paths = pathsIn(text).filter((path) => !exists(path));
    const names = [...text.matchAll(FILE_NAME)].map(([name]) => name).filter((name) => !files.has(name));
    return [...paths, ...names].map((name) => `${document}: ${name}`);
  });
  assert.deepEqual(dead, []);
});

test("braces name several paths, and a full stop ends a path", () => {
  assert.deepEqual(pathsIn("See test/main/{a,b/c}.test.ts and src/main/pods/sync/plan*."), [
    "test/main/a.test.ts",
    "test/main/b/c.test.ts",
    "src/main/pods/sync/plan*",
  ]);
});

test("every link in a document leads to a file and, with an anchor, to a heading of it", () => {
  assert.deepEqual(
    DOCUMENTS.flatMap((document) => deadLinks(document)),
    [],
  );
});

test("a link to a missing file or heading is reported, other links are not", () => {
  const text = [
    "# One `thing`, and more",
    "## Twice",
    "## Twice",
    "```sh",
    "# no heading",
    "```",
    "[a](#one-thing-and-more) [b](#twice-1) [c](https://example.org/#x) [d](README.md) ![e](docs/threads.svg)",
    "[f](#no-heading) [g](#twice-2) [h](missing.md) [i](missing.md#x)",
  ].join("\n");
  const targets = deadLinks("ARCHITECTURE.md", text).map((dead) => dead.slice("ARCHITECTURE.md: ".length));
  assert.deepEqual(targets, ["#no-heading", "#twice-2", "missing.md", "missing.md#x"]);
});

test("the index of decisions lists every record once, with its number and title", () => {
  const rows = [...read("docs/adr/README.md").matchAll(/^\| \[(\d{4})\]\(([\w-]+\.md)\) +\|([^|]+)\|/gm)];
  const listed = rows.map(([, number = "", file = "", title = ""]) => `${file} # ${number}: ${title.trim()}`);
  const records = below("docs/adr", ".md").filter((path) => !path.endsWith("README.md"));
  const written = records.map((path) => `${basename(path)} ${read(path).split("\n", 1).join("")}`);
  assert.deepEqual(listed.sort(), written.sort());
});

test("every file and every decision that a comment names exists", () => {
  const known = new Set([...SOURCES, ...DOCUMENTS].flatMap(endings));
  const dead = SOURCES.filter((path) => !path.includes("/gen/")).flatMap((path) => {
    const comments = commentsOf(read(path));
    const files = [...comments.matchAll(PARTIAL)].map(([name]) => name).filter((name) => !known.has(name));
    const decisions = [...comments.matchAll(/docs\/adr\/\d{4}/g)].map(([name]) => name);
    return [...files, ...decisions.filter((name) => !DECISIONS.includes(name))].map((name) => `${path}: ${name}`);
  });
  assert.deepEqual(dead, []);
});

/** The path and every shorter form of it that ends with the same file. */
function endings(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(0, -1).map((_, index) => parts.slice(index).join("/"));
}
