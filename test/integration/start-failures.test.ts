// npm start: the kubelet or the private runtime ends by itself. The user learns how, and the logs are kept.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { assertNothingIsLeft, npmStart } from "../support/npm-start.js";

/** The record of a run's processes that has a pid below `key`. */
const RECORDS = [
  { program: "the kubelet", record: "standalone.json", key: "kubelet", log: "kubelet.log" },
  { program: "the private containerd", record: "containerd/instance.json", key: "containerd", log: "containerd.log" },
] as const;

suite("npm start whose program ends by itself", () => {
  for (const { program, record, key, log } of RECORDS) {
    test(`${program} is killed: its signal and the end of its log are shown, and the log stays`, async (t) => {
      const run = await npmStart(`start-${key}`);
      t.after(() => run.stop());
      await run.untilReady();
      const records = JSON.parse(await readFile(join(run.dir, record), "utf8")) as Record<string, { pid: number }>;
      const victim = records[key]?.pid;
      assert.ok(victim !== undefined);
      process.kill(victim, "SIGKILL");
      assert.equal(await run.closed, 1, run.problems());
      const said = run.problems();
      assert.ok(said.includes(`nodelet: ${program} ended with signal SIGKILL; the end of its log:\n`), said);
      const kept = join(`${run.dir}.failed`, log);
      assert.match(said, new RegExp(`nodelet: kept until the next failure: .*${kept}`));
      assert.ok((await readFile(kept, "utf8")).length > 0);
      await assertNothingIsLeft(run);
    });
  }
});
