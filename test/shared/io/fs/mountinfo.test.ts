import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { sharedRead } from "../../../../src/shared/base/turns/shared-read.js";
import { mountsWithin, parseMountinfo, parseMountsWithin } from "../../../../src/shared/io/fs/mountinfo.js";

const line = (id: number, mountPoint: string): string =>
  `${id} 1 0:21 / ${mountPoint.replace(/[ \t\n\\]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, "0")}`)} rw - tmpfs none rw`;

test("mounts within a directory equal those of the whole table, for any names", () => {
  const name = fc.string({
    unit: fc.constantFrom("a", "b", " ", "\\", "\t", "\n", "é", "/"),
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 20 }), name, (places, directory) => {
      const table = places.map((place, id) => line(id, `/${place}`)).join("\n");
      assert.deepEqual(parseMountsWithin(table, `/${directory}`), mountsWithin(parseMountinfo(table), `/${directory}`));
    }),
  );
});

test("the kernel's own table", () => {
  const table = readFileSync("/proc/self/mountinfo", "utf8");
  assert.ok(parseMountsWithin(table, "/proc").some(({ fsType }) => fsType === "proc"));
  assert.deepEqual(parseMountsWithin(table, "/proc"), mountsWithin(parseMountinfo(table), "/proc"));
  assert.deepEqual(parseMountsWithin("", "/proc"), []);
});

/** Readings that the test ends; each returns its number. */
function readings() {
  const ends: ((error?: Error) => void)[] = [];
  const read = sharedRead(
    () =>
      new Promise<number>((resolve, reject) => {
        const number = ends.length;
        ends.push((error) => (error === undefined ? resolve(number) : reject(error)));
      }),
  );
  return { read, ends };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("callers during a reading share the next one", async () => {
  const { read, ends } = readings();
  const first = read();
  const others = [read(), read()];
  await turn();
  assert.equal(ends.length, 1, "one at a time");
  ends[0]?.();
  assert.equal(await first, 0);
  await turn();
  const late = read();
  assert.equal(ends.length, 2);
  ends[1]?.();
  assert.deepEqual(await Promise.all(others), [1, 1]);
  await turn();
  assert.equal(ends.length, 3, "the late one came during the second");
  ends[2]?.();
  assert.equal(await late, 2);
  const alone = read();
  assert.equal(ends.length, 4);
  ends[3]?.();
  assert.equal(await alone, 3);
});

test("a reading that fails rejects for all its callers, and the next one is made", async () => {
  const { read, ends } = readings();
  const first = read();
  const second = read();
  ends[0]?.(new Error("no"));
  await assert.rejects(first, /no/);
  await turn();
  ends[1]?.();
  assert.equal(await second, 1);
});
