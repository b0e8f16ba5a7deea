// Packages of the registry: only the pinned bytes are used, and they are kept.
// @promise Packages and documents: Only the pinned bytes of Node get into a package.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { npmPackage } from "../../../tools/release/registry.js";
import { run } from "../../../tools/standalone/exec.js";

/** An npm on the path whose `pack` brings one tarball; returns its integrity and the folder of the cache. */
async function fakeNpm(t: TestContext): Promise<{ integrity: string; cache: string; forget: () => Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-registry-"));
  const path = process.env["PATH"];
  t.after(async () => {
    process.env["PATH"] = path;
    await rm(dir, { recursive: true, force: true });
  });
  await mkdir(join(dir, "package"));
  await writeFile(join(dir, "package/file"), "content\n");
  const tarball = join(dir, "it.tgz");
  await run("tar", ["-czf", tarball, "-C", dir, "package"]);
  const npm = join(dir, "bin/npm");
  await mkdir(join(dir, "bin"));
  // npm pack <name> --silent --ignore-scripts --pack-destination <folder>
  await writeFile(npm, `#!/bin/sh\ncp ${tarball} "$6/it.tgz" && echo it.tgz\n`, { mode: 0o755 });
  process.env["PATH"] = `${join(dir, "bin")}:${path ?? ""}`;
  const hash = createHash("sha512").update(await readFile(tarball));
  return { integrity: `sha512-${hash.digest("base64")}`, cache: join(dir, "cache"), forget: () => rm(npm) };
}

test("a tarball with another hash than the pinned one is refused", async (t) => {
  const { cache } = await fakeNpm(t);
  const pin = { name: "@a/b", version: "1.0.0", integrity: "sha512-other" };
  await assert.rejects(npmPackage(cache, pin), /npm pack @a\/b@1\.0\.0: its hash is sha512-.*, not sha512-other/);
  assert.deepEqual(await readdir(cache), []);
});

test("a tarball is fetched once; a damaged one again", async (t) => {
  const { integrity, cache, forget } = await fakeNpm(t);
  const pin = { name: "@a/b", version: "1.0.0", integrity };
  await npmPackage(cache, pin);
  await writeFile(join(cache, "a-b-1.0.0.tgz"), "damaged");
  await npmPackage(cache, pin);
  await forget();
  const folder = await npmPackage(cache, pin);
  assert.equal(await readFile(join(folder, "file"), "utf8"), "content\n");
});
