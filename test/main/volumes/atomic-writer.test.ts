// The atomic writer as readers of the volume see it. This includes its death at any step, and a full disk.
// @promise Volumes: Projected files change in one step; after a kill at any step, or with a full disk, all files are
//   old or all are new.

import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { writePayload, WRITE_STEPS } from "../../../src/main/volumes/atomic-writer/atomic-writer.js";
import { checkPayload, MOST_BYTES, type Payload } from "../../../src/main/volumes/atomic-writer/payload.js";
import { VolumeError } from "../../../src/main/volumes/volume-error.js";
import { DiskFullError } from "../../../src/shared/io/fs/atomic-write.js";
import { mount } from "../../../src/shared/io/os/mount.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { assertCpuBelow } from "../../support/thread-cpu.js";
import { isRoot, temporaryRoot } from "./temporary-root.js";

const clock = new SteppedClock();
const payload = (files: Record<string, string>, mode = 0o644): Payload =>
  new Map(Object.entries(files).map(([path, data]) => [path, { data, mode }]));

async function volumeOf(t: TestContext): Promise<string> {
  const volume = `${await temporaryRoot(t)}/volume`;
  mkdirSync(volume);
  return volume;
}

/** A reader's view of ..data, path to text. */
function content(volume: string, below = "..data"): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(`${volume}/${below}`, { withFileTypes: true })) {
    const path = `${below}/${entry.name}`;
    if (entry.isDirectory()) Object.assign(found, content(volume, path));
    else found[path.slice("..data/".length)] = readFileSync(`${volume}/${path}`, "utf8");
  }
  return found;
}
const visible = (volume: string): string[] => readdirSync(volume).filter((name) => !name.startsWith(".."));
const hidden = (volume: string): string[] => readdirSync(volume).filter((name) => name.startsWith(".."));

test("files, directories and modes; links that readers see; another content replaces all of it", async (t) => {
  const volume = await volumeOf(t);
  const before = process.umask(0o077);
  t.after(() => process.umask(before));
  const first = new Map([
    ["a", { data: "1", mode: 0o640 }],
    ["dir/sub/b", { data: Buffer.from([0, 255]), mode: 0o400 }],
  ]);
  assert.equal(await writePayload(volume, first, { clock }), true);
  assert.deepEqual(visible(volume), ["a", "dir"]);
  assert.equal(readlinkSync(`${volume}/a`), "..data/a");
  assert.match(readlinkSync(`${volume}/..data`), /^\.\.1970_01_01_00_00_00\.\d{10}$/);
  assert.equal(statSync(`${volume}/a`).mode & 0o7777, 0o640);
  assert.equal(statSync(`${volume}/dir/sub`).mode & 0o7777, 0o755);
  assert.deepEqual([...readFileSync(`${volume}/dir/sub/b`)], [0, 255]);
  assert.equal(await writePayload(volume, payload({ a: "2", c: "3" }), { clock }), true);
  assert.deepEqual(content(volume), { a: "2", c: "3" });
  assert.deepEqual(visible(volume), ["a", "c"]);
  assert.equal(hidden(volume).length, 2, "the old directory is removed");
  assert.equal(await writePayload(volume, payload({}), { clock }), true);
  assert.deepEqual(visible(volume), []);
});

test("a directory that was made just now gets the same, and the next write takes it from there", async (t) => {
  const volume = await volumeOf(t);
  const files = { a: "1", "d/b": "2" };
  assert.equal(await writePayload(volume, payload(files, 0o604), { clock, fresh: true }), true);
  assert.deepEqual(content(volume), files);
  assert.equal(readlinkSync(`${volume}/d`), "..data/d");
  assert.equal(statSync(`${volume}/a`).mode & 0o7777, 0o604);
  assert.deepEqual(hidden(volume).sort(), ["..data", readlinkSync(`${volume}/..data`)].sort());
  assert.equal(await writePayload(volume, payload(files), { clock }), false);
  assert.equal(await writePayload(volume, payload({ a: "3" }), { clock }), true);
  assert.deepEqual([content(volume), visible(volume)], [{ a: "3" }, ["a"]]);
});

test("the same content again changes nothing, also when its modes were changed since", async (t) => {
  const volume = await volumeOf(t);
  await writePayload(volume, payload({ a: "1", "d/b": "2" }), { clock });
  const link = lstatSync(`${volume}/..data`);
  chmodSync(`${volume}/a`, 0o660);
  assert.equal(await writePayload(volume, payload({ "d/b": "2", a: "1" }), { clock }), false);
  assert.equal(lstatSync(`${volume}/..data`).ino, link.ino);
  for (const other of [{ a: "1" }, { a: "1", "d/b": "2", c: "" }, { a: "1", "d/b": "3" }]) {
    assert.equal(await writePayload(volume, payload(other), { clock }), true);
  }
});

test("ownership is set before anybody sees the files", async (t) => {
  const volume = await volumeOf(t);
  const seen: string[][] = [];
  const beforeVisible = (directory: string): Promise<void> => {
    seen.push(readdirSync(directory), visible(volume));
    return Promise.resolve();
  };
  await writePayload(volume, payload({ a: "1" }), { clock, beforeVisible });
  assert.deepEqual(seen, [["a"], []]);
});

test("paths that lead elsewhere or clash are refused before anything is made", async (t) => {
  const volume = await volumeOf(t);
  for (const path of [
    "",
    "/a",
    "..",
    "../a",
    "a/../b",
    "..data",
    "..2026/x",
    "a//b",
    "./a",
    "a/",
    "a\0b",
    "x".repeat(256),
    "x/".repeat(2100) + "x",
  ]) {
    await assert.rejects(writePayload(volume, payload({ ok: "", [path]: "" }), { clock }), VolumeError, path);
  }
  await assert.rejects(writePayload(volume, payload({ a: "", "a/b": "" }), { clock }), /a is a file already/);
  assert.deepEqual(readdirSync(volume), []);
});

for (const end of WRITE_STEPS) {
  test(`a writer that dies after "${end}" leaves all old or all new files, and the next one makes it good`, async (t) => {
    const volume = await volumeOf(t);
    const old = { a: "old", gone: "old", "d/x": "old" };
    const wanted = { a: "new", "d/x": "new", more: "new" };
    await writePayload(volume, payload(old), { clock });
    // A promise that never settles: the process is not there any more.
    await new Promise<void>((died) => {
      const onStep = (step: string): Promise<void> | undefined => {
        if (step !== end) return undefined;
        died();
        return new Promise(() => undefined);
      };
      void writePayload(volume, payload(wanted), { clock, onStep });
    });
    const swapped = WRITE_STEPS.indexOf(end) >= WRITE_STEPS.indexOf("swap");
    assert.deepEqual(content(volume), swapped ? wanted : old);
    assert.equal(readFileSync(`${volume}/a`, "utf8"), swapped ? "new" : "old");
    await writePayload(volume, payload(wanted), { clock });
    assert.deepEqual(content(volume), wanted);
    assert.deepEqual(visible(volume), ["a", "d", "more"]);
    assert.deepEqual(
      hidden(volume).sort(),
      ["..data", readlinkSync(`${volume}/..data`)].sort(),
      "nothing is left of the one that died",
    );
  });
}

test("readers never see a mixture of old and new", async (t) => {
  const volume = await volumeOf(t);
  const version = (text: string): Payload => payload({ a: text, b: text });
  await writePayload(volume, version("0"), { clock });
  let writing = true;
  const seen = new Set<string>();
  const reader = async (): Promise<void> => {
    while (writing) {
      const directory = readlinkSync(`${volume}/..data`);
      const pair = await Promise.all(
        ["a", "b"].map((name) => readFile(`${volume}/${directory}/${name}`, "utf8")),
      ).catch(
        () => undefined, // replaced twice meanwhile: a reader that holds on to a directory finds it gone, not mixed
      );
      if (pair !== undefined) assert.equal(pair[0], pair[1]);
      if (pair !== undefined) seen.add(pair[0] ?? "");
    }
  };
  const reading = reader();
  for (let round = 1; round <= 100; round++) await writePayload(volume, version(String(round)), { clock });
  writing = false;
  await reading;
  assert.ok(seen.size > 1, "readers saw changes");
});

test("a full disk leaves the old files as they were", { skip: isRoot ? false : "needs root" }, async (t) => {
  const volume = await volumeOf(t);
  await mount({ source: "tmpfs", target: volume, type: "tmpfs", data: "size=64k" });
  await writePayload(volume, payload({ a: "old" }), { clock });
  const before = readdirSync(volume);
  await assert.rejects(
    writePayload(volume, payload({ a: "new", big: "x".repeat(128 * 1024) }), { clock }),
    DiskFullError,
  );
  assert.deepEqual(content(volume), { a: "old" });
  assert.deepEqual(readdirSync(volume), before, "nothing half is left");
  assert.ok(existsSync(`${volume}/a`));
  await writePayload(volume, payload({ a: "new" }), { clock });
  assert.deepEqual(content(volume), { a: "new" });
});

test("a file in the place of another one's folder is refused, wherever it comes in the order of names", () => {
  const check = (...paths: string[]): void =>
    checkPayload(payload(Object.fromEntries(paths.map((path) => [path, ""]))));
  for (const paths of [
    ["a", "a!", "a/b"],
    ["a/b", "a!b", "a"],
    ["x/y/z", "x/y"],
    ["a", "a/b/c/d"],
  ]) {
    assert.throws(() => check(...paths), /is a file already/, paths.join());
  }
  check("a!", "a/b", "ab", "b", "a/c", "c/d/e", "c/d/f");
});

test("paths of thousands of folders are checked in linear time", () => {
  const paths = Array.from({ length: 300 }, (_, index) => [`${"a/".repeat(2000)}${index}`, ""]);
  const deep = payload(Object.fromEntries(paths) as Record<string, string>);
  assertCpuBelow(150, () => checkPayload(deep));
});

test("a text that thousands of files have is refused when their sum is too big", () => {
  const text = "x".repeat(1024 * 1024);
  const many = (count: number): Payload =>
    payload(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, text])));
  checkPayload(many(MOST_BYTES / text.length));
  assert.throws(
    () => checkPayload(many(MOST_BYTES / text.length + 1)),
    /the files of the volume have more than 64 MiB/,
  );
});
