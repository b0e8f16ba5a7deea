// Sizes of writable layers, measured by the real `du`.
// @promise Docker Engine: The size of a writable layer on a Docker Engine is its disk usage by blocks; a measurement
//   serves for 10 s or fifty times its duration, and follows no link (`NODELET_TEST_RUNTIME=docker`).
// @with test/integration/cri-validation.test.ts

import assert from "node:assert/strict";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { monotonicTime } from "../../../src/shared/base/clock/moments.js";
import { LayerSizes } from "../../../src/workers/dockershim/stats/layer-sizes.js";
import { temporaryFolder } from "../../support/sources-kit.js";

const KIB = 1024;
const { signal } = new AbortController();

async function layers(t: TestContext) {
  const folder = await temporaryFolder(t);
  const at = { now: 0 };
  const asked: string[] = [];
  const warnings: string[] = [];
  const sizes = new LayerSizes({
    clock: { monotonic: () => monotonicTime(at.now), after: systemClock.after.bind(systemClock) },
    log: { warn: (message: string) => void warnings.push(message) },
    directoryOf: (id: string) => {
      asked.push(id);
      return Promise.resolve(id === "other-driver" ? undefined : join(folder, id));
    },
  });
  const write = async (id: string, name: string, bytes: number): Promise<void> => {
    await mkdir(join(folder, id), { recursive: true });
    await writeFile(join(folder, id, name), Buffer.alloc(bytes, "x"));
  };
  return { folder, at, asked, warnings, sizes, write };
}

test("a layer with a file of 11 bytes has the size of its blocks, and a link counts nothing behind it", async (t) => {
  const { folder, sizes, write } = await layers(t);
  await write("small", "hello", 11);
  await write("elsewhere", "large", 1024 * KIB);
  await symlink(join(folder, "elsewhere", "large"), join(folder, "small", "link"));
  await symlink(join(folder, "elsewhere"), join(folder, "small", "folder"));
  const size = (await sizes.of(["small"], signal)).get("small") ?? 0;
  assert.ok(size >= 4 * KIB && size < 100 * KIB, String(size));
});

test("a size is kept for ten seconds, a new container is measured at once, and a removed one is forgotten", async (t) => {
  const { at, asked, sizes, write } = await layers(t);
  await write("a", "file", KIB);
  const first = (await sizes.of(["a"], signal)).get("a") ?? 0;
  await write("a", "more", 1024 * KIB);
  await write("b", "file", 512 * KIB);
  at.now = 9_999;
  const second = await sizes.of(["a", "b"], signal);
  assert.equal(second.get("a"), first);
  assert.ok((second.get("b") ?? 0) >= 512 * KIB);
  at.now = 10_000;
  assert.ok(((await sizes.of(["a", "b"], signal)).get("a") ?? 0) >= 1024 * KIB);
  sizes.retain(new Set(["a"]));
  await sizes.of(["a", "b"], signal);
  assert.deepEqual(asked, ["a", "b", "b"]);
});

test("a layer of another storage driver, or one that was removed, has no size; the others have theirs", async (t) => {
  const { folder, at, sizes, write, warnings } = await layers(t);
  await write("a", "file", KIB);
  await write("removed", "file", KIB);
  assert.deepEqual([...(await sizes.of(["a", "removed", "other-driver"], signal)).keys()], ["a", "removed"]);
  await rm(join(folder, "removed"), { recursive: true });
  await write("a", "more", 1024 * KIB);
  at.now = 20_000;
  assert.ok(((await sizes.of(["a", "removed"], signal)).get("a") ?? 0) >= 1024 * KIB);
  assert.deepEqual([...(await sizes.of(["a", "never-there"], signal)).keys()], ["a"]);
  assert.deepEqual(warnings, []);
});
