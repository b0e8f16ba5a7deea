// Disk usage of directories, in jobs. The sum does not depend on the cut, links are not followed, names of one file
// share its size.

import assert from "node:assert/strict";
import { lstatSync } from "node:fs";
import { link, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { UsageTree } from "../../../src/shared/contracts/tasks.js";
import { directoryUsage } from "../../../src/workers/tasks/usage/directory-usage.js";
import { temporaryFolder } from "../../support/sources-kit.js";

interface Sum {
  bytes: number;
  inodes: number;
  jobs: number;
}

function inJobs(roots: Pick<UsageTree, "root" | "itself">[], maxFiles: number): Sum {
  const sum = { bytes: 0, inodes: 0, jobs: 0 };
  let trees: UsageTree[] = roots;
  while (trees.length > 0) {
    const result = directoryUsage({ trees, maxFiles, maxMs: 60_000 });
    assert.ok(result.workMs >= 0);
    sum.jobs++;
    trees = result.trees.flatMap(({ bytes, inodes, done, place }, index) => {
      sum.bytes += bytes;
      sum.inodes += inodes;
      return done ? [] : [{ ...trees[index]!, ...(place !== undefined && { place }) }];
    });
  }
  return { ...sum, bytes: Math.round(sum.bytes), inodes: Math.round(sum.inodes) };
}

const size = (path: string): number => lstatSync(path).blocks * 512;

test("files, directories, odd names and links, in one job or in many", async (t) => {
  const root = join(await temporaryFolder(t), "tree");
  const outside = join(await temporaryFolder(t), "outside");
  for (const folder of [join(root, "a/b/c"), join(root, "d"), outside]) await mkdir(folder, { recursive: true });
  const files = ["one", "a/two", "a/b/three", "a/b/c/four", "d/five"].map((name) => join(root, name));
  for (const [index, file] of files.entries()) await writeFile(file, Buffer.alloc(5000 * (index + 1), 1));
  await writeFile(Buffer.concat([Buffer.from(`${root}/d/`), Buffer.from([0xff, 0xfe, 0x20])]), "x");
  await writeFile(join(outside, "big"), Buffer.alloc(1_000_000, 1));
  await symlink(outside, join(root, "a/away"));
  for (const name of ["d/again", "a/b/again", "third"]) await link(join(root, "one"), join(root, name));
  const folders = ["a", "a/b", "a/b/c", "d"].map((name) => join(root, name));
  const odd = Buffer.concat([Buffer.from(`${root}/d/`), Buffer.from([0xff, 0xfe, 0x20])]);
  const bytes =
    [...files, ...folders, join(root, "a/away")].reduce((sum, path) => sum + size(path), 0) +
    lstatSync(odd).blocks * 512;
  const whole = inJobs([{ root, itself: false }], 1_000_000);
  assert.deepEqual(whole, { bytes, inodes: files.length + folders.length + 2, jobs: 1 });
  const withItself = inJobs([{ root, itself: true }], 1_000_000);
  assert.deepEqual(withItself, { bytes: bytes + size(root), inodes: whole.inodes + 1, jobs: 1 });
  const file = { root: join(root, "d/five"), itself: true };
  const gone = { root: join(root, "no/such"), itself: true };
  for (const maxFiles of [1, 2, 3, 7]) {
    const cut = inJobs([{ root, itself: true }, file, gone], maxFiles);
    assert.deepEqual(
      [cut.bytes, cut.inodes],
      [withItself.bytes + size(file.root), withItself.inodes + 1],
      `jobs of ${maxFiles} files`,
    );
    assert.ok(cut.jobs > 1);
  }
});

test("files that are removed between two jobs are not counted, and are no failure", async (t) => {
  const root = join(await temporaryFolder(t), "tree");
  await mkdir(join(root, "a/b"), { recursive: true });
  const first = directoryUsage({ trees: [{ root, itself: false }], maxFiles: 2, maxMs: 60_000 }).trees[0];
  assert.deepEqual([first?.inodes, first?.done], [1, false]);
  await rm(root, { recursive: true });
  const tree = { root, itself: false, place: first?.place ?? new Uint8Array() };
  const next = directoryUsage({ trees: [tree], maxFiles: 10, maxMs: 60_000 });
  assert.deepEqual(next.trees, [{ bytes: 0, inodes: 0, done: true }]);
});

test("a job ends at its deadline, and the next one runs", async (t) => {
  const root = join(await temporaryFolder(t), "tree");
  await mkdir(root);
  for (let file = 0; file < 100; file++) await writeFile(join(root, String(file)), "");
  let trees: UsageTree[] = [{ root, itself: false }];
  let inodes = 0;
  let jobs = 0;
  while (trees.length > 0) {
    const [part] = directoryUsage({ trees, maxFiles: 1000, maxMs: 0 }).trees;
    inodes += part?.inodes ?? 0;
    trees = part?.place === undefined ? [] : [{ root, itself: false, place: part.place }];
    jobs++;
  }
  assert.deepEqual([inodes, jobs], [100, 101], "one file of each job; the last finds the end");
});

test("a file system of its own is asked, not walked", () => {
  const [part] = directoryUsage({ trees: [{ root: "/proc", itself: true }], maxFiles: 5, maxMs: 60_000 }).trees;
  assert.deepEqual(part, { bytes: 0, inodes: 0, done: true, apart: true });
});
