// The state folder of `npm start`: made where it can be, and refused in one line elsewhere.

import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { SetupProblem } from "../../../tools/standalone/problem.js";
import { claimStateDir } from "../../../tools/standalone/state-dir.js";

let folder: string;
before(async () => void (folder = await mkdtemp(join(tmpdir(), "nodelet-state-"))));
after(() => rm(folder, { recursive: true }));

const claim = (path: string) => claimStateDir(path, () => undefined);

test("the folder is made with the folders above it, and removed alone", async () => {
  const dir = await claim(join(folder, "a b", "state"));
  equal((await stat(dir.path)).mode & 0o777, 0o711);
  await dir.remove();
  deepEqual(await readdir(join(folder, "a b")), []);
});

test("a folder that the kernel does not make, a file, and a folder with other files are refused", async () => {
  await writeFile(join(folder, "file"), "");
  // Node's recursive mkdir would not end here.
  for (const [path, message] of [
    ["/proc/nodelet/state", /^cannot make \/proc\/nodelet\/state: ENOENT.*; choose another --state-dir$/],
    [join(folder, "file"), /^.*file is no folder: choose another --state-dir$/],
    [join(folder, "file/below"), /^.*below is no folder: choose another --state-dir$/],
    [folder, /holds files that are not ours: choose another --state-dir$/],
  ] as const)
    await rejects(claim(path), (error) => error instanceof SetupProblem && message.test(error.message));
});
