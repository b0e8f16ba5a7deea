// Walks in pieces: every entry once, wherever the pieces end, whatever the shape of the tree; no link followed; the
// place between two pieces small; and nothing left open.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { entryKind } from "../../../src/shared/io/os/directory-stream.js";
import { TreeWalk } from "../../../src/workers/tasks/tree-walk.js";
import { temporaryFolder } from "../../support/sources-kit.js";

interface Walked {
  names: string[];
  pieces: number;
  longestPlace: number;
}

/** Walks all of it; `between` is called between two pieces. */
function walkAll(root: string, most: number, between: () => void = () => undefined): Walked {
  const walked: Walked = { names: [], pieces: 0, longestPlace: 0 };
  let place: Uint8Array | undefined;
  do {
    // As it goes through main: a copy.
    const walk: TreeWalk = new TreeWalk(root, place && structuredClone(place));
    const entry = (_directory: number, { name, kind }: { name: string; kind: number }): boolean => {
      walked.names.push(name);
      return kind === entryKind.directory;
    };
    walk.run({ entry }, { most, until: Infinity });
    walked.pieces++;
    place = walk.place;
    walked.longestPlace = Math.max(walked.longestPlace, place?.byteLength ?? 0);
    if (place !== undefined) between();
  } while (place !== undefined);
  return walked;
}

const sorted = (names: readonly string[]): string[] => [...names].sort();
const openHandles = (): number => readdirSync("/proc/self/fd").length;

/** Three levels of directories, files in each; all names differ. */
function fill(root: string): string[] {
  const names: string[] = [];
  const make = (directory: string, depth: number): void => {
    for (let index = 0; index < 4; index++) {
      const file = `f${names.length}`;
      writeFileSync(join(directory, file), "");
      names.push(file);
      if (depth === 0) continue;
      const below = `d${names.length}`;
      mkdirSync(join(directory, below));
      names.push(below);
      make(join(directory, below), depth - 1);
    }
  };
  make(root, 3);
  return names;
}

for (const most of [1, 2, 7, 100, 1_000_000]) {
  test(`every entry once in pieces of ${most}, and every handle closed`, async (t) => {
    const root = await temporaryFolder(t);
    const names = fill(root);
    const before = openHandles();
    const walked = walkAll(root, most);
    assert.equal(openHandles(), before);
    assert.deepEqual(sorted(walked.names), sorted(names));
    if (most < names.length) assert.ok(walked.pieces >= names.length / most);
  });
}

test("a directory of 20,000 directories is cut in pieces, and the place stays within some hundred bytes", async (t) => {
  const root = await temporaryFolder(t);
  execFileSync("sh", ["-c", "seq 20000 | xargs mkdir"], { cwd: root });
  const walked = walkAll(root, 5000);
  assert.equal(new Set(walked.names).size, 20_000);
  assert.equal(walked.names.length, 20_000);
  assert.ok(walked.pieces >= 4);
  assert.ok(walked.longestPlace < 200, `${walked.longestPlace} bytes`);
});

test("a tree of 2,200 levels with a file on each, and a directory beside, is walked to its end", async (t) => {
  const root = await temporaryFolder(t);
  const top = join(root, "top");
  mkdirSync(top);
  // Longer than a path may be: made level by level.
  const home = process.cwd();
  process.chdir(top);
  try {
    for (let level = 0; level < 2200; level++) {
      writeFileSync("f", "");
      mkdirSync("a");
      mkdirSync("d");
      process.chdir("d");
    }
  } finally {
    process.chdir(home);
  }
  const before = openHandles();
  const walked = walkAll(top, 1000);
  // Node's own removal goes by paths.
  execFileSync("rm", ["-rf", top]);
  assert.equal(openHandles(), before);
  const counts = ["a", "d", "f"].map((name) => walked.names.filter((one) => one === name).length);
  assert.deepEqual(counts, [2200, 2200, 2200]);
});

test("a directory that is moved away, or becomes a link, between two pieces is not followed; the rest is walked", async (t) => {
  const root = join(await temporaryFolder(t), "tree");
  const outside = await temporaryFolder(t);
  mkdirSync(`${root}/d/e`, { recursive: true });
  writeFileSync(join(outside, "secret"), "");
  mkdirSync(join(outside, "e"));
  writeFileSync(join(outside, "e", "secret"), "");
  for (const directory of ["", "/d", "/d/e"]) writeFileSync(`${root}${directory}/file`, "");
  let pieces = 0;
  const walked = walkAll(root, 1, () => {
    if (++pieces !== 2) return;
    renameSync(join(root, "d"), join(outside, "moved"));
    symlinkSync(outside, join(root, "d"));
  });
  assert.ok(!walked.names.includes("secret"));
  rmSync(root, { recursive: true });
  assert.deepEqual(walkAll(root, 10).names, [], "a removed root has no entries");
});
