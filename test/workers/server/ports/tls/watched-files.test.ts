// Files that matter while they change: when their contents are handed over, and when they are not.

import { deepEqual, equal, match } from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { WatchedFiles, type WatchedFilesOptions } from "../../../../../src/workers/server/ports/tls/watched-files.js";
import { until } from "../../../../support/sources-kit.js";
import { SteppedClock } from "../../../../support/stepped-clock.js";

const SETTLE_MS = 100;
const LOOK_MS = 60_000;
const FIRST_LOOK_MS = 1000;

let dir: string;
let clock: SteppedClock;
let seen: string[];
let problems: string[];
let files: WatchedFiles | undefined;
let usable: (text: string) => boolean;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-watched-"));
  [clock, seen, problems, usable] = [new SteppedClock(), [], [], () => true];
});
afterEach(async () => {
  files?.close();
  equal(clock.pending, 0);
  await rm(dir, { recursive: true, force: true });
});

function open(...paths: string[]): Promise<void> {
  return openWith({ paths });
}

function openWith(options: Pick<WatchedFilesOptions, "paths" | "optional">): Promise<void> {
  files = new WatchedFiles({
    ...options,
    clock,
    onContents: (contents) => {
      const text = contents.join("+");
      if (!usable(text)) throw new Error(`unusable: ${text}`);
      seen.push(text);
    },
    onProblem: (error) => problems.push(error.message),
  });
  return files.start();
}

/** Timers of files at rest: the check each minute. */
const AT_REST = 1;

/**
 * Waits for the folder to report a change, then for the files to settle. The report may be one of an earlier change
 * that came late.
 */
async function settled(): Promise<void> {
  await until(() => clock.pending > AT_REST);
  while (clock.pending > AT_REST) {
    clock.step(SETTLE_MS);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("files are handed over together, when all are there and when one has changed", async () => {
  const [a, b] = [join(dir, "a"), join(dir, "b")];
  await writeFile(a, "1");
  await open(a, b);
  deepEqual([seen, problems.length], [[], 1]);
  await writeFile(b, "2");
  clock.step(FIRST_LOOK_MS);
  await until(() => seen.length === 1);
  await writeFile(`${b}.new`, "3");
  await rename(`${b}.new`, b);
  await settled();
  await until(() => seen.length === 2);
  deepEqual(seen, ["1+2", "1+3"]);
});

test("files that are all missing are one problem, named by the first of them", async () => {
  const paths = ["a", "b", "c"].map((name) => join(dir, name));
  await open(...paths);
  for (let look = 0; look < 40; look++) {
    await until(() => clock.pending > AT_REST);
    clock.step(FIRST_LOOK_MS);
  }
  await until(() => clock.pending > AT_REST);
  equal(problems.length, 1);
  match(problems[0] ?? "", /\/a'/);
});

test("files are found in a folder that is made later", async () => {
  const path = join(dir, "later", "a");
  await open(path);
  await mkdir(join(dir, "later"));
  await writeFile(path, "1");
  clock.step(FIRST_LOOK_MS);
  await until(() => seen.length === 1);
});

test("a file that may be missing is not looked for each second, and is seen when it comes", async () => {
  const path = join(dir, "a");
  await openWith({ paths: [path], optional: true });
  equal(problems.length, 1);
  equal(clock.pending, AT_REST);
  await writeFile(path, "1");
  await settled();
  await until(() => seen.length === 1);
  deepEqual(seen, ["1"]);
});

test("behind a link that another folder changes are seen within a minute", async () => {
  await mkdir(join(dir, "elsewhere"));
  const [path, target] = [join(dir, "a"), join(dir, "elsewhere", "a")];
  await writeFile(target, "1");
  await symlink(target, path);
  await open(path);
  await writeFile(target, "2");
  clock.step(LOOK_MS);
  await until(() => seen.length === 2);
  deepEqual(seen, ["1", "2"]);
});

test("unusable files are reported once, and again after they were good", async () => {
  const path = join(dir, "a");
  await writeFile(path, "good");
  await open(path);
  usable = (text) => text !== "bad";
  for (const [text, count] of [
    ["bad", 1],
    ["bad", 1],
    ["better", 1],
    ["bad", 2],
  ] as const) {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
    clock.step(LOOK_MS);
    await until(() => problems.length === count && (text === "bad" || seen.at(-1) === text));
  }
  deepEqual(seen, ["good", "better"]);
});
