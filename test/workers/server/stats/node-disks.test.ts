// File systems of the node that do not respond. Requests end in time, share one call, and leave libuv's pool free.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { NodeDisks } from "../../../../src/workers/server/stats/node-disks.js";
import { waitFor } from "../../../../tools/standalone/wait.js";
import { canHang, HungMounts } from "../../../support/hung-mounts.js";
import { silentLog } from "../../../support/silent.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const log = silentLog;

test("a disk that never responds: every request ends after a second, and one call is pending", async () => {
  const clock = new SteppedClock();
  let calls = 0;
  const hung = { call: () => (calls++, new Promise<never>(() => undefined)), close: () => undefined };
  const disks = new NodeDisks(hung, clock);
  for (let round = 0; round < 3; round++) {
    const asked = Array.from({ length: 10 }, () =>
      assert.rejects(disks.facts("/disk"), /\/disk does not respond within 1 s/),
    );
    clock.step(1000);
    await Promise.all(asked);
  }
  assert.equal(calls, 1);
  assert.equal(clock.pending, 0);
});

test("the next request after a response calls again", async () => {
  let calls = 0;
  const facts = { bsize: 1, blocks: 2, bfree: 1, bavail: 1, files: 0, ffree: 0 };
  const call = () => (calls++, calls === 1 ? Promise.reject(new Error("EIO")) : Promise.resolve(facts as never));
  const disks = new NodeDisks({ call, close: () => undefined }, new SteppedClock());
  await assert.rejects(disks.facts("/disk"), /EIO/);
  assert.equal(await disks.facts("/disk"), facts);
});

test(
  "requests about a mount that hangs leave libuv's pool free",
  { skip: canHang ? false : "needs root and /dev/fuse" },
  async (t) => {
    const root = mkdtempSync(`${tmpdir()}/nodelet-disks-`);
    const mounts = new HungMounts();
    const disks = NodeDisks.open(systemClock, log);
    t.after(async () => {
      disks.close();
      await mounts.releaseAll();
      rmSync(root, { recursive: true });
    });
    await mounts.hang(`${root}/hung`);
    const asked = Array.from({ length: 12 }, (_, index) =>
      assert.rejects(disks.facts(`${root}/hung${"/".repeat(index)}`)),
    );
    // A pool whose threads hang would never come to these.
    for (let index = 0; index < 20; index++) await stat(root);
    // The helper process may need longer to start than a request waits.
    const facts = await waitFor(() => disks.facts(root), { what: "a response about a disk that does not hang" });
    assert.ok(facts.blocks > 0);
    await Promise.all(asked);
  },
);
