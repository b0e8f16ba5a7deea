// One rotation beside a compression that ends at that moment.

import assert from "node:assert/strict";
import files, { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
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

test("a refused rotation shows the runtime's refusal, for each outcome of the renamed file", async (t) => {
  const outcomes: [string, (directory: string) => Promise<void>, RegExp, string[]][] = [
    ["nothing", () => Promise.resolve(), /the container keeps writing to the old file/, ["0.log"]],
    [
      "a new file",
      (directory) => writeFile(join(directory, "0.log"), "new"),
      /created a new file nevertheless/,
      ["0.log", "0.log.*"],
    ],
    ["the pod's removal", (directory) => rm(directory, { recursive: true }), /somebody removed the old file/, []],
  ];
  for (const [what, meanwhile, shown, left] of outcomes) {
    const directory = join(await temporaryFolder(t), "c");
    await mkdir(directory);
    await writeFile(join(directory, "0.log"), "old");
    const rotated = rotateLog({
      directory,
      current: "0.log",
      maxFiles: 3,
      now: new Date(),
      inWork: new Set(),
      reopen: async () => {
        await meanwhile(directory);
        throw new Error("the runtime refuses");
      },
    });
    await assert.rejects(rotated, (error: Error) => {
      assert.match(error.message, /cannot rotate log .*\/c\/0\.log: the runtime refuses; /, what);
      assert.match(error.message, shown, what);
      return true;
    });
    const names = left.length === 0 ? [] : (await readdir(directory)).sort();
    assert.deepEqual(
      names.map((name) => (name === "0.log" ? name : "0.log.*")),
      left,
      what,
    );
  }
});
