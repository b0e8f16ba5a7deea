// Entries of the pods' directory that are no pods, such as lost+found if the directory is a file system.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { DeviceUsers } from "../../../src/main/volumes/csi/users.js";
import { podUidsIn } from "../../../src/main/volumes/paths.js";
import { temporaryFolder } from "../../support/sources-kit.js";

test("an entry that is no pod does not keep the CSI volumes of pods from being found", async (t) => {
  const root = await temporaryFolder(t);
  const volume = `${root}/pods/u1/volumes/kubernetes.io~csi/pv-1`;
  for (const directory of [volume, `${root}/pods/lost+found`]) await mkdir(directory, { recursive: true });
  await writeFile(`${volume}/vol_data.json`, JSON.stringify({ driverName: "test.csi", volumeHandle: "vol-1" }));
  assert.deepEqual(await podUidsIn(root), ["u1"]);
  const users = new DeviceUsers();
  await users.load(root);
  assert.equal(users.inUse().length, 1);
});
