// Kernel flags, on files in a folder.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { checkKernelDefaults, setKernelDefaults } from "../../../src/main/node/kernel-defaults.js";
import { OperatorError } from "../../../src/shared/base/errors/operator-error.js";
import { keptLog } from "../../support/sources-kit.js";

const RIGHT: Readonly<Record<string, string>> = {
  "vm/overcommit_memory": "1",
  "vm/panic_on_oom": "0",
  "kernel/panic": "10",
  "kernel/panic_on_oops": "1",
  "kernel/keys/root_maxkeys": "1000000",
  "kernel/keys/root_maxbytes": "25000000",
};
let folder: string;
const set = (path: string, text: string): Promise<void> => writeFile(join(folder, path), text);
const get = async (path: string): Promise<string> => (await readFile(join(folder, path), "utf8")).trim();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodelet-sysctl-"));
  await mkdir(join(folder, "vm"));
  await mkdir(join(folder, "kernel/keys"), { recursive: true });
  for (const [path, text] of Object.entries(RIGHT)) await set(path, `${text}\n`);
});
afterEach(() => rm(folder, { recursive: true }));

test("protected flags are only compared: a difference is an error that names each flag", async () => {
  await checkKernelDefaults(folder);
  await set("vm/overcommit_memory", "0\n");
  await rm(join(folder, "kernel/panic"));
  await assert.rejects(checkKernelDefaults(folder), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /invalid kernel flag: vm\/overcommit_memory, expected value: 1, actual value: 0/);
    assert.match(error.message, /kernel\/panic can't be read/);
    assert.doesNotMatch(error.message, /root_maxkeys/);
    return true;
  });
  assert.equal(await get("vm/overcommit_memory"), "0");
});

test("otherwise a different flag is set, an equal one is left alone, and a refusal costs only that flag", async () => {
  await set("vm/overcommit_memory", "0\n");
  await set("kernel/keys/root_maxkeys", "200\n");
  await rm(join(folder, "kernel/panic"));
  await mkdir(join(folder, "kernel/panic"));
  const kept = keptLog();
  await setKernelDefaults(kept.log, { inUserNamespace: false, directory: folder });
  assert.equal(await get("vm/overcommit_memory"), "1");
  assert.equal(await get("kernel/keys/root_maxkeys"), "1000000");
  assert.equal(await readFile(join(folder, "vm/panic_on_oom"), "utf8"), "0\n", "not written");
  assert.equal(kept.lines.filter((line) => JSON.stringify(line).includes("updating kernel flag")).length, 2);
  assert.ok(kept.lines.some((line) => JSON.stringify(line).includes("kernel/panic can't be made 10")));
});
