// A unix socket is never open to others than its mode allows, whatever the umask.

import assert from "node:assert/strict";
import { readdir, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { bindPrivately, isTooLong, listenAt } from "../../../../src/shared/io/net/private-socket.js";
import { temporaryFolder } from "../../../support/sources-kit.js";

function withUmask(t: TestContext, mask: number): void {
  const before = process.umask(mask);
  t.after(() => process.umask(before));
}

test("a socket is bound in a folder of its own that only this user enters, and has its mode when it gets its path", async (t) => {
  withUmask(t, 0);
  const folder = await temporaryFolder(t);
  const path = join(folder, "s");
  await writeFile(path, "left by another process");
  const server = createServer();
  t.after(() => server.close());
  const seen: unknown[] = [];
  const bound = await bindPrivately(path, async (temporary) => {
    await listenAt(server, temporary);
    seen.push((await stat(dirname(temporary))).mode & 0o777, dirname(dirname(temporary)) === folder);
    seen.push((await stat(path)).isFile());
  });
  assert.deepEqual(seen, [0o700, true, true]);
  const made = await stat(path);
  assert.deepEqual([made.isSocket(), made.mode & 0o777], [true, 0o600]);
  assert.deepEqual(await readdir(folder), ["s"]);
  await bound.remove();
  assert.deepEqual(await readdir(folder), []);
});

test("a failure to bind leaves the path as it was", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "s");
  await writeFile(path, "of another process");
  await assert.rejects(
    bindPrivately(path, () => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.deepEqual(await readdir(folder), ["s"]);
  assert.equal((await stat(path)).isFile(), true);
  assert.equal(isTooLong(`/${"x".repeat(110)}/s`), true);
});
