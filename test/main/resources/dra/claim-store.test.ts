// The store of claims reads the state of the previous kubelet process once, and writes nothing before.

import assert from "node:assert/strict";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ClaimStore } from "../../../../src/main/resources/dra/claim-store.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";

const claim = { uid: "uid", name: "gpu", namespace: "default", pods: new Set([podUid("pod")]), prepared: false };

test("a store that could not be read is read again by the next call, and keeps its claims then", async (t) => {
  const rootDir = join(await temporaryFolder(t), "root");
  await mkdir(rootDir);
  const first = new ClaimStore(rootDir, systemClock, keptLog().log);
  await first.load();
  assert.equal(first.isLoaded, true);
  first.add({ ...claim, drivers: new Map() });
  await first.save();
  const state = join(rootDir, "dra_manager_state");
  const moved = join(rootDir, "..", "moved");
  await rename(rootDir, moved);
  await writeFile(rootDir, "a file in place of the folder");
  const second = new ClaimStore(rootDir, systemClock, keptLog().log);
  await assert.rejects(second.load(), { name: "DraError", message: new RegExp(`^cannot read ${state}: `) });
  assert.equal(second.isLoaded, false);
  await rm(rootDir);
  await rename(moved, rootDir);
  await Promise.all([second.load(), second.load()]);
  assert.equal(second.isLoaded, true);
  assert.deepEqual(
    second.all().map(({ name }) => name),
    ["gpu"],
  );
});
