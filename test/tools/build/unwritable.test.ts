// A checkout whose files this user cannot write: one line that names the file and the way out.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const BOOTSTRAP = new URL("../../../../tools/build/bootstrap.mjs", import.meta.url);
const { unwritable } = (await import(BOOTSTRAP.href)) as {
  unwritable: (error: Error | { code: string; path: string }) => Error | undefined;
};
const ROOT = fileURLToPath(new URL("../..", BOOTSTRAP)).replace(/\/$/, "");
const VERSION = join(ROOT, "dist/src/version.json.new");

for (const [code, advice] of [
  ["EACCES", `make the checkout yours, sudo chown -R $USER ${ROOT}, or run this with sudo`],
  ["EPERM", `make the checkout yours, sudo chown -R $USER ${ROOT}, or run this with sudo`],
  ["EROFS", `${ROOT} is read-only: use a checkout on another file system`],
  ["ENOSPC", "no space is left, free some"],
] as const) {
  test(`a build that cannot write for ${code} names the file and the way out`, () => {
    const problem = unwritable({ code, path: VERSION });
    assert.equal(problem?.message, `cannot write dist/src/version.json.new (${code}): ${advice}`);
  });
}

test("a file of another folder, and an error of another kind, are defects with a stack", () => {
  assert.equal(unwritable({ code: "EACCES", path: "/etc/shadow" }), undefined);
  assert.equal(unwritable({ code: "ENOENT", path: VERSION }), undefined);
  assert.equal(unwritable(new TypeError("a defect")), undefined);
});
