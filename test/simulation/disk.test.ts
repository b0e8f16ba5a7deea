// The simulated disk after a loss of power.

import assert from "node:assert/strict";
import { test } from "node:test";
import { disk } from "./disk/machine-disk.js";
import { Random } from "./kernel/random.js";

test("a loss of power takes no file of the kernel, whenever it was made, and takes folders that were not synced", () => {
  disk.seed(new Random(1));
  disk.kernelFile("/proc/meminfo", () => "first");
  disk.kernelFile("/proc/meminfo", () => "second");
  disk.kernelFile("/proc/self/task/1/stat", () => "third");
  disk.tree.makeDirectory("/proc/unsynced", 0o755);
  disk.crash(true);
  const texts = ["meminfo", "self/task/1/stat"].map((path) => disk.tree.lookUp(`/proc/${path}`, "open").text?.());
  assert.deepEqual(texts, ["second", "third"]);
  assert.equal(disk.tree.exists("/proc/unsynced"), false);
});
