// The sides of nodelet cp, and the names that tar gives the members of an archive.

import { deepEqual, equal, throws } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { parseCopy } from "../../src/cli/exec/copy-sides.js";
import { renaming } from "../../src/cli/exec/tar-renaming.js";

describe("the sides of a copy", () => {
  for (const [source, target, expected] of [
    ["web:/etc/hosts", "hosts", { side: { pod: "web", path: "/etc/hosts" }, local: "hosts", out: true }],
    ["a/web:data/", "/x", { side: { pod: "a/web", path: "data" }, local: "/x", out: true }],
    ["./a:b", "web:/t//u/", { side: { pod: "web", path: "/t/u" }, local: "./a:b", out: false }],
    ["/a:b", "web:c:d", { side: { pod: "web", path: "c:d" }, local: "/a:b", out: false }],
  ] as const) {
    test(`${source} → ${target}`, () => deepEqual(parseCopy(source, target), expected));
  }
  for (const [source, target] of [
    ["a", "b"],
    ["web:/a", "db:/b"],
    ["web:/", "b"],
    ["web:/a/..", "b"],
    ["web:.", "b"],
    ["a/b/c:/x", "y"],
  ] as const) {
    test(`${source} → ${target} is refused`, () => throws(() => parseCopy(source, target), { exitCode: 2 }));
  }
});

describe("new names of archive members", () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), "nodelet-cp-"));
  });
  after(() => rmSync(dir, { recursive: true }));

  const name = fc
    .stringMatching(/^[a-zA-Z0-9 .[\]*^$\\&+?(){}'",;:=-]{1,12}$/)
    .filter((text) => !/^\.{1,2}$/.test(text));
  test("tar writes exactly the new name, for any characters in both names", () => {
    fc.assert(
      fc.property(name, name, (from, to) => {
        writeFileSync(join(dir, from), "");
        const args = ["--create", "--no-unquote", "--file=-", `--directory=${dir}`, ...renaming(from, to), "--", from];
        const archive = execFileSync("tar", args);
        // The first field of a header is the member's name: https://www.gnu.org/software/tar/manual/html_node/Standard.html
        equal(archive.subarray(0, archive.indexOf(0)).toString(), to);
        rmSync(join(dir, from));
      }),
      { numRuns: 60 },
    );
  });
  test("names that tar's expression cannot have are refused", () => {
    throws(() => renaming("a|b", "c"), { exitCode: 2 });
    throws(() => renaming("a", "b\nc"), { exitCode: 2 });
    deepEqual(renaming("a|b", "a|b"), []);
  });
});
