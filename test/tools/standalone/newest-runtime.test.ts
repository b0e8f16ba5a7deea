// Which containerd `npm start` and `npm test` run: the installed one, one of a directory, or that of Debian's newest
// suite.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { chooseRuntime } from "../../../tools/standalone/newest-runtime.js";
import { isSetupProblem } from "../../../tools/standalone/problem.js";
import { temporaryFolder } from "../../support/sources-kit.js";

const PATH = process.env["PATH"] ?? "";
const step = <T>(name: string): Promise<T> => Promise.reject(new Error(`nothing is to be done: ${name}`));

async function withPrograms(folder: string, names = ["containerd", "ctr", "runc"]): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const name of names) await writeFile(join(folder, name), "");
  return folder;
}

describe("the choice of containerd", () => {
  afterEach(() => {
    process.env["PATH"] = PATH;
  });

  for (const env of [{}, { NODELET_CONTAINERD: "installed" }]) {
    test(`${JSON.stringify(env)}: the path stays as it is`, async () => {
      await chooseRuntime({ cacheDir: "/nonexistent", step, env });
      assert.equal(process.env["PATH"], PATH);
    });
  }

  test("a directory comes first on the path", async (t) => {
    const folder = await withPrograms(await temporaryFolder(t));
    await chooseRuntime({ cacheDir: "/nonexistent", step, env: { NODELET_CONTAINERD: folder } });
    assert.equal(process.env["PATH"], `${folder}:${PATH}`);
  });

  test("a directory that lacks a program is refused by its name", async (t) => {
    const folder = await withPrograms(await temporaryFolder(t), ["containerd", "ctr"]);
    await assert.rejects(
      chooseRuntime({ cacheDir: "/nonexistent", step, env: { NODELET_CONTAINERD: folder } }),
      (error) => isSetupProblem(error) && error.message.includes(`${folder}/runc`),
    );
    assert.equal(process.env["PATH"], PATH);
  });

  test("newest: an unpacked version is used without a download", async (t) => {
    const cacheDir = await temporaryFolder(t);
    const programs = await withPrograms(join(cacheDir, "containerd-sid", "usr", "bin"));
    await chooseRuntime({ cacheDir, step, env: { NODELET_CONTAINERD: "newest" } });
    assert.equal(process.env["PATH"], `${programs}:${PATH}`);
  });
});
