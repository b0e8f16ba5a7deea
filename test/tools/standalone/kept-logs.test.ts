// What `npm start` says of a program that ended, and which logs it leaves behind.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { failedLogsDir, KeptLogs } from "../../../tools/standalone/kept-logs.js";
import { describeEnd, lastLines } from "../../../tools/standalone/process-end.js";

const base = await mkdtemp(join(tmpdir(), "kept-logs-"));
after(() => rm(base, { recursive: true }));

async function ended(script: string): Promise<ReturnType<typeof spawn>> {
  const child = spawn("sh", ["-c", script], { stdio: "ignore" });
  await once(child, "close");
  return child;
}

describe("the end of a program", () => {
  for (const [script, how] of [
    ["exit 78", "status 78"],
    ["exit 0", "status 0"],
    ["kill -9 $$", "signal SIGKILL"],
    ["kill -SEGV $$", "signal SIGSEGV"],
  ] as const) {
    test(`a program that ran \`${script}\` is reported with ${how}`, async () => {
      const log = join(base, "some.log");
      await writeFile(log, "first\nsecond\nthird\n");
      const text = await describeEnd("the kubelet", { child: await ended(script), log, lines: 2 });
      assert.equal(text, `the kubelet ended with ${how}; the end of its log:\nsecond\nthird`);
    });
  }

  test("a program without a log is reported, too", async () => {
    const text = await describeEnd("dockerd", { child: await ended("exit 1"), log: join(base, "none.log") });
    assert.equal(text, "dockerd ended with status 1; its log is empty");
  });

  test("only the end of a large log is read", async () => {
    const log = join(base, "large.log");
    await writeFile(log, `${"x".repeat(200_000)}\nlast\n`);
    const text = await lastLines(log);
    assert.ok(text.length <= 64 * 1024, String(text.length));
    assert.ok(text.endsWith("\nlast"));
  });
});

describe("the logs of a failed run", () => {
  async function stateDir(name: string): Promise<{ dir: string; log: string }> {
    const dir = await mkdtemp(join(base, name));
    const log = join(dir, "kubelet.log");
    await writeFile(log, `log of ${name}`);
    return { dir, log };
  }

  test("they lie beside the state folder, for their owner alone, and their places are named", async () => {
    const { dir, log } = await stateDir("a");
    const said: string[] = [];
    const logs = new KeptLogs(dir, (line) => said.push(line));
    await logs.keep([log, join(dir, "missing.log"), undefined]);
    logs.announce();
    const place = join(failedLogsDir(dir), "kubelet.log");
    assert.deepEqual(said, [`nodelet: kept until the next failure: ${place}`]);
    assert.equal(await readFile(place, "utf8"), "log of a");
    assert.equal((await stat(failedLogsDir(dir))).mode & 0o777, 0o700);
    assert.deepEqual(await readdir(dir), []);
  });

  test("those of the failure before are removed, and foreign files are not", async () => {
    const { dir, log } = await stateDir("b");
    const containerd = join(dir, "containerd.log");
    await writeFile(containerd, "of the first run");
    const ignore = (): void => undefined;
    await new KeptLogs(dir, ignore).keep([log, containerd]);
    await writeFile(join(failedLogsDir(dir), "notes.txt"), "of the user");
    await writeFile(log, "of the second run");
    await new KeptLogs(dir, ignore).keep([log]);
    assert.deepEqual((await readdir(failedLogsDir(dir))).toSorted(), ["kubelet.log", "notes.txt"]);
    assert.equal(await readFile(join(failedLogsDir(dir), "kubelet.log"), "utf8"), "of the second run");
  });

  test("a link in the folder's place is not followed, and a message says so", async () => {
    const { dir, log } = await stateDir("c");
    const elsewhere = await mkdtemp(join(base, "elsewhere"));
    await symlink(elsewhere, failedLogsDir(dir));
    const said: string[] = [];
    const logs = new KeptLogs(dir, (line) => said.push(line));
    await logs.keep([log]);
    logs.announce();
    assert.deepEqual(said, [`nodelet: ${log} is lost: ${failedLogsDir(dir)} is not a folder of this user: remove it`]);
    assert.deepEqual(await readdir(elsewhere), []);
  });

  test("an empty log is not kept", async () => {
    const { dir, log } = await stateDir("d");
    await writeFile(log, "");
    const said: string[] = [];
    const logs = new KeptLogs(dir, (line) => said.push(line));
    await logs.keep([log]);
    logs.announce();
    assert.deepEqual(said, []);
  });
});
