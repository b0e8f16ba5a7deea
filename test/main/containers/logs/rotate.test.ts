// One rotation beside a compression that ends at that moment.

import assert from "node:assert/strict";
import files, { readdir, rename, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { rotateLog } from "../../../../src/main/containers/logs/rotate.js";
import { temporaryFolder } from "../../../support/sources-kit.js";

test("a file too many goes, though it was compressed after the folder was listed", async (t) => {
  const directory = await temporaryFolder(t);
  const oldest = "0.log.20260101-000001";
  for (const name of [oldest, "0.log.20260101-000002", "0.log"]) await writeFile(join(directory, name), name);
  const { unlink } = files;
  t.mock.method(files, "unlink", async (path: string) => {
    if (path.endsWith(oldest)) await rename(join(directory, oldest), join(directory, `${oldest}.gz`));
    await unlink(path);
  });
  syncBuiltinESMExports();
  t.after(syncBuiltinESMExports);
  await rotateLog({
    directory,
    current: "0.log",
    maxFiles: 3,
    now: new Date(),
    inWork: new Set([oldest]),
    reopen: () => writeFile(join(directory, "0.log"), ""),
  });
  const names = await readdir(directory);
  assert.equal(names.length, 3, names.join(" "));
  assert.ok(!names.some((name) => name.startsWith(oldest)));
});
