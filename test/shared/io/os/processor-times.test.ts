// Processor times of the machine from /proc/stat.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { processorTimes, readProcessorTimes } from "../../../../src/shared/io/os/processor-times.js";
import { temporaryFolder } from "../../../support/sources-kit.js";

test("busy time is everything but idle and iowait, and guests are a part of user", () => {
  assert.deepEqual(processorTimes("cpu  10 20 30 400 50 6 7 8 9 9\n"), { busy: 81, all: 531, idle: 400 });
  assert.deepEqual(processorTimes(""), { busy: 0, all: 0, idle: 0 });
});

test("the file's first line counts, and the times of this machine never go back", async (t) => {
  const file = join(await temporaryFolder(t), "stat");
  const text = `cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n${"intr 1\n".repeat(1000)}`;
  await writeFile(file, text);
  assert.deepEqual(await readProcessorTimes(file), processorTimes(text));
  const before = await readProcessorTimes();
  const after = await readProcessorTimes();
  assert.ok(before.all > 0 && after.all >= before.all);
  await assert.rejects(readProcessorTimes(`${file}-missing`), { code: "ENOENT" });
});
