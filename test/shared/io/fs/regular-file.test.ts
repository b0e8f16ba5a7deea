// Files of the operator and of the kubelet itself: what else may stand at their paths, and how much of it is read.
// @promise Hostile tenants and clients: A FIFO, device, folder or huge file in place of a certificate, kubeconfig,
//   state file or record holds no thread and takes no memory.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFile, mkdir, open, readdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readMappings } from "../../../../src/main/containers/user-namespaces/mapping-file.js";
import { readVolData } from "../../../../src/main/volumes/csi/vol-data.js";
import { readIntent } from "../../../../src/main/volumes/mount-intent.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { readRegularFile, readRegularText, readTextIfThere } from "../../../../src/shared/io/fs/regular-file.js";
import { readState } from "../../../../src/shared/io/fs/state-file.js";
import { FileTooLargeError, NotRegularFileError } from "../../../../src/shared/io/fs/untrusted-file.js";
import { groupId } from "../../../../src/shared/io/os/group-id.js";
import { SourceText } from "../../../../src/shared/kubernetes/api/client/credentials/source-text.js";
import { loadClientConfig } from "../../../../src/shared/kubernetes/api/client/kubeconfig/load.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";

const TIB = 1024 ** 4;

/** With a writer that writes nothing: a read of it does not end before the test does. */
async function silentFifo(t: TestContext, path: string): Promise<void> {
  execFileSync("mkfifo", [path]);
  const writer = await open(path, "r+");
  t.after(() => writer.close());
}

const READERS: Readonly<Record<string, [name: string, read: (folder: string) => Promise<unknown>]>> = {
  "a file of the kubeconfig's credentials": [
    "tls.key",
    (folder) => new SourceText({ file: join(folder, "tls.key") }, "client key").read(),
  ],
  "a kubeconfig": ["config", (folder) => loadClientConfig(join(folder, "config"))],
  "a certificate of the kubelet": ["current.pem", (folder) => readTextIfThere(join(folder, "current.pem"))],
  "the ids of a pod": ["userns", (folder) => readMappings(join(folder, "userns"))],
  "the facts of a CSI volume": ["vol_data.json", readVolData],
  "the group file": ["group", (folder) => groupId("g", join(folder, "group"))],
};

for (const [what, [name, read]] of Object.entries(READERS)) {
  test(`${what} is not read from a FIFO, a folder, a device or a file of a terabyte`, async (t) => {
    const refused = /not a regular file/;
    const fifo = await temporaryFolder(t);
    await silentFifo(t, join(fifo, name));
    await assert.rejects(read(fifo), refused);
    const inFolder = await temporaryFolder(t);
    await mkdir(join(inFolder, name));
    await assert.rejects(read(inFolder), refused);
    const device = await temporaryFolder(t);
    await symlink("/dev/zero", join(device, name));
    await assert.rejects(read(device), refused);
    const huge = await temporaryFolder(t);
    await writeFile(join(huge, name), "");
    await truncate(join(huge, name), TIB);
    await assert.rejects(read(huge), /larger than \d+ MiB/);
  });
}

test("a state file that is a FIFO or has a terabyte is set aside, and the kubelet starts without it", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "state");
  const { log, warnings } = keptLog();
  await silentFifo(t, path);
  assert.equal(await readState(path, () => ({ version: 1 }), { clock: systemClock, log }), undefined);
  await writeFile(path, "");
  await truncate(path, TIB);
  assert.equal(await readState(path, () => ({ version: 1 }), { clock: systemClock, log }), undefined);
  assert.equal(warnings().length, 2);
  assert.deepEqual((await readdir(folder)).includes("state"), false);
});

test("a volume's intent that is a FIFO counts as one of an unknown kind", async (t) => {
  const folder = await temporaryFolder(t);
  await silentFifo(t, join(folder, "mount.json"));
  const names = await readdir(folder);
  assert.deepEqual(names, ["mount.json"]);
  assert.deepEqual(await readIntent(folder), { kind: undefined });
});

test("a file is read whole up to its limit, through links, and also if it has more than its size tells", async (t) => {
  const path = join(await temporaryFolder(t), "file");
  await writeFile(path, "ä".repeat(500));
  await symlink("file", `${path}-link`);
  assert.equal(await readRegularText(`${path}-link`, 1000), "ä".repeat(500));
  await appendFile(path, "x");
  await assert.rejects(readRegularFile(path, 1000), FileTooLargeError);
  // Files of the kernel have no size.
  assert.match(await readRegularText("/proc/self/status"), /^Name:[^]+\nCpus_allowed/);
  await assert.rejects(readRegularFile("/proc/self/status", 100), /is larger than 100 bytes/);
});

test("a path that leads nowhere fails with the system's own error", async (t) => {
  const path = join(await temporaryFolder(t), "link");
  await symlink("gone", path);
  await assert.rejects(readRegularFile(path), { code: "ENOENT", syscall: "open" });
  await assert.rejects(readRegularFile(join(path, "..", "..", "\0")), { code: "ERR_INVALID_ARG_VALUE" });
  await assert.rejects(readRegularFile("/dev/null"), NotRegularFileError);
});
