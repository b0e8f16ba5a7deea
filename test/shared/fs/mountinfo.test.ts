import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { mountsWithin, parseMountinfo, parseMountsWithin } from "../../../src/shared/fs/mountinfo.js";

const line = (id: number, mountPoint: string): string =>
  `${id} 1 0:21 / ${mountPoint.replace(/[ \t\n\\]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, "0")}`)} rw - tmpfs none rw`;

test("mounts within a directory are those of the whole table, whatever the names", () => {
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
