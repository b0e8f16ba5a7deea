// Facts about the machine that the kubelet reads from files.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readThermalThrottlePaths } from "../../../src/main/node/machine.js";

test("thermal_throttle directories: those of CPUs that have one, in the order of the CPUs", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "cpus-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const cpu of ["cpu10", "cpu2", "cpuidle"]) await mkdir(join(root, cpu, "thermal_throttle"), { recursive: true });
  await mkdir(join(root, "cpu3"));
  await writeFile(join(root, "possible"), "0-10\n");
  assert.deepEqual(await readThermalThrottlePaths(root), [
    join(root, "cpu2", "thermal_throttle"),
    join(root, "cpu10", "thermal_throttle"),
  ]);
  assert.deepEqual(await readThermalThrottlePaths(join(root, "none")), []);
});
