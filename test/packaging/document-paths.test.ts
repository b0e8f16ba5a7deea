// Documents and comments name files of this repository. These tests fail when a named file does not exist.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { globSync } from "../harness/glob.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** What a benchmark run leaves behind: not in the repository. */
const MADE_BY_RUNS = ["bench/results"];

const below = (folder: string, ending: string): string[] =>
  globSync(join(ROOT, folder), ending).map((name) => `${folder}/${name}`);
const SOURCES = ["src", "test", "bench", "packaging"].flatMap((folder) => below(folder, ".ts"));
const DOCUMENTS = [
  ...["README.md", "ARCHITECTURE.md", "SPECIFICATION.md", "CONTRIBUTING.md", "CHANGELOG.md"],
  ...below("docs", ".md"),
];
const DECISIONS = below("docs/adr", ".md").map((path) => path.slice(0, "docs/adr/0000".length));
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** A path from the root of the repository, or the start of several ("…/plan*"); the end of a sentence is no part of it. */
const FROM_ROOT = /(?<![\w./-])(?:src|test|bench|docs|packaging)\/[\w./-]*[\w/*{]/g;
/** The last folders and the name of a source file, as comments have it. */
const PARTIAL = /(?<![\w./@-])[a-z][\w-]*\/[\w./-]+\.(?:ts|md)\b/g;

function exists(path: string): boolean {
  if (MADE_BY_RUNS.some((made) => path.startsWith(made))) return true;
  const start = path.replace(/[*{]$/, "");
  if (start !== path) return [...SOURCES, ...DOCUMENTS].some((known) => known.startsWith(start));
  return DECISIONS.includes(path) || existsSync(join(ROOT, path));
}

function commentsOf(source: string): string {
  return source
    .split("\n")
    .filter((line) => /^\s*(?:\/\/|\/\*|\*)/.test(line))
    .join("\n");
}

test("every path that a document names exists", () => {
  const dead = DOCUMENTS.flatMap((document) =>
    [...read(document).matchAll(FROM_ROOT)].filter(([path]) => !exists(path)).map(([path]) => `${document}: ${path}`),
  );
  assert.deepEqual(dead, []);
});

test("every link between documents leads to a file", () => {
  const dead = DOCUMENTS.flatMap((document) => {
    const folder = join(document, "..");
    return [...read(document).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .filter(([, target = ""]) => !existsSync(join(ROOT, folder, target)))
      .map(([, target = ""]) => `${document}: ${target}`);
  });
  assert.deepEqual(dead, []);
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
