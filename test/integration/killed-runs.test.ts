// A run of tests or benchmarks that is killed leaves processes, mounts, namespaces and files. The next run removes
// them, and nothing else.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { cgroupFolders } from "../../tools/standalone/cgroups.js";
import { mountsBelow } from "../../tools/standalone/mounts.js";
import { netnsExists } from "../../tools/standalone/netns.js";
import { openRun, processesOfRun } from "../../tools/standalone/runs.js";

const PROGRAM = fileURLToPath(new URL("../support/fixtures/doomed-run.js", import.meta.url));

async function newBase(): Promise<string> {
  return join(await mkdtemp(join(process.env["NODELET_TEST_DIR"] ?? "", "k")), "runs");
}

/** Starts a run, kills it after it printed `step`, and returns its folder. */
async function killAfter(step: string, base: string): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, base], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) if (line === step) break;
  child.kill("SIGKILL");
  await once(child, "exit");
  const [name] = await readdir(base);
  return join(base, name ?? "");
}

describe("a run after one that was killed", () => {
  for (const step of ["opened", "placed", "runtime", "everything"]) {
    test(`removes all that a run killed after the step "${step}" left`, async () => {
      const base = await newBase();
      const dead = await killAfter(step, base);
      const elsewhere = join(base, "..", `nodelet-${basename(dead)}`);
      if (step === "everything") {
        assert.ok((await processesOfRun(dead)).length >= 2, "the runtime and a child live on");
        assert.equal((await mountsBelow(dead)).includes(join(dead, "lane", "mounted")), true);
        assert.deepEqual(await mountsBelow(elsewhere), [join(elsewhere, "mounted")]);
      }
      const said: string[] = [];
      const next = await openRun((line) => said.push(line), base);
      try {
        assert.deepEqual(await processesOfRun(dead), []);
        assert.deepEqual(await mountsBelow(join(base, "..")), []);
        assert.equal(existsSync(elsewhere), false);
        assert.deepEqual(await cgroupFolders(`${process.env["NODELET_CGROUP_ROOT"] ?? ""}/doomed`), []);
        assert.equal(await netnsExists(`nodelet-${dead.slice(base.length + 1)}-lane`), false);
        assert.deepEqual(await readdir(base), [next.dir.slice(base.length + 1)]);
        assert.match(said.join("\n"), /ended without cleaning up: removing what it left in /);
      } finally {
        await next.remove();
      }
      assert.deepEqual(await readdir(base), []);
    });
  }

  test("leaves living runs and foreign folders alone, and one of several cleans up", async () => {
    const base = await newBase();
    await killAfter("placed", base);
    await mkdir(join(base, "foreign"));
    await writeFile(join(base, "foreign", "a file"), "");
    const said: string[] = [];
    const runs = await Promise.all([1, 2, 3].map(() => openRun((line) => said.push(line), base)));
    assert.equal(said.length, 1, said.join("\n"));
    assert.deepEqual((await readdir(base)).length, 4);
    for (const run of runs) await run.remove();
    assert.deepEqual(await readdir(base), ["foreign"]);
  });

  test("refuses a folder of runs in which others may write", async () => {
    const base = await newBase();
    await mkdir(base);
    await chmod(base, 0o777);
    await assert.rejects(
      openRun(() => undefined, base),
      /is not a folder of this user alone: remove it, or set TMPDIR/,
    );
  });
});
