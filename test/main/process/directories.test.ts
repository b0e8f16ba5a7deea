// The root directory becomes a shared mount, in mount namespaces made for the test.
// @promise Volumes: The root directory is on a shared mount; no mount of a running pod is hidden for it.
// @with test/integration/pod-volumes.test.ts

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { describe, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "../../support/sources-kit.js";

const FIXTURE = fileURLToPath(new URL("./fixtures/share-root.js", import.meta.url));
const isRoot = process.getuid?.() === 0;

interface Seen {
  /** Below the root directory: path, and whether it is shared. */
  mounts: string[];
  errors: string[];
}

async function share(t: TestContext, mounts: (rootDir: string) => string[]): Promise<Seen> {
  const rootDir = `${await temporaryFolder(t)}/root`;
  await mkdir(`${rootDir}/pods`, { recursive: true });
  const args = ["--mount", "--propagation", "private", process.execPath, FIXTURE, rootDir, ...mounts(rootDir)];
  const { stdout } = await promisify(execFile)("unshare", args);
  return JSON.parse(stdout) as Seen;
}

describe("the root directory", { skip: isRoot ? false : "needs root" }, () => {
  test("on a private mount: one shared mount of its own, however often the kubelet starts", async (t) => {
    assert.deepEqual(await share(t, () => []), { mounts: [" shared"], errors: [] });
  });

  test("on a shared mount: nothing is mounted", async (t) => {
    assert.deepEqual(await share(t, () => ["--make-rshared /"]), { mounts: [], errors: [] });
  });

  test("that is a private mount already: it becomes shared with everything below it, and nothing covers it", async (t) => {
    const seen = await share(t, (rootDir) => [`-t tmpfs x ${rootDir}`, `-o X-mount.mkdir -t tmpfs x ${rootDir}/pods`]);
    assert.deepEqual(seen, { mounts: [" shared", "/pods shared"], errors: [] });
  });

  test("with mounts of running pods below it: they are not hidden, and the log names the remedy", async (t) => {
    const seen = await share(t, (rootDir) => [`-t tmpfs x ${rootDir}/pods`]);
    assert.deepEqual(seen.mounts, ["/pods private"]);
    assert.match(seen.errors.join("\n"), /pods is mounted below it.*run "mount --make-rshared \/"/);
  });
});
