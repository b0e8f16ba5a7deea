// Calls on real mounts that never answer: they end with a typed error, and hold no thread of libuv's pool.
// @headline Volumes | A hung volume blocks only itself. | 40 hung mounts
// @promise Volumes: A volume that does not respond blocks only itself: 40 hung FUSE mounts leave libuv's pool free;
//   each call ends with a typed error.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { test, type TestContext } from "node:test";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { SubPathError, VolumeNotAnsweringError } from "../../../../src/shared/node/volume-calls/errors.js";
import { startHelperProcess, type StartHelper } from "../../../../src/shared/node/volume-calls/helper.js";
import { LIMITS } from "../../../../src/shared/node/volume-calls/schedule.js";
import { VolumeCalls } from "../../../../src/shared/node/volume-calls/volume-calls.js";
import { canHang, HungMounts } from "../../../support/hung-mounts.js";
import { silentLog } from "../../../support/silent.js";

const skip = canHang ? false : "needs root and /dev/fuse";
/** Deadlines of a test's time. */
const limits = { ...LIMITS, deadlineMs: 1500, slowMs: 400, firstRestMs: 500 };

function calling(t: TestContext) {
  const root = mkdtempSync(`${tmpdir()}/nodelet-calls-`);
  let started = 0;
  const startHelper: StartHelper = (events) => {
    started++;
    return startHelperProcess(events);
  };
  const log = silentLog;
  const calls = new VolumeCalls({ clock: systemClock, log, startHelper, limits });
  const mounts = new HungMounts();
  t.after(async () => {
    calls.close();
    await mounts.releaseAll();
    rmSync(root, { recursive: true });
  });
  return { calls, started: () => started, mounts, root };
}

const statAt = (calls: VolumeCalls, path: string) => calls.call("stat", { path }, { paths: [path] });

test("A call on the node's own disk starts no helper", { skip }, async (t) => {
  const { calls, started, mounts, root } = calling(t);
  await mounts.hang(`${root}/hung`);
  mkdirSync(`${root}/good`);
  assert.equal((await statAt(calls, `${root}/good`)).ino, (await stat(`${root}/good`)).ino);
  await assert.rejects(statAt(calls, `${root}/none`), { code: "ENOENT" });
  assert.equal(started(), 0);
});

test("Forty mounts that hang get errors, and leave libuv's pool free", { skip }, async (t) => {
  const { calls, mounts, root } = calling(t);
  const targets = Array.from({ length: 40 }, (_, index) => `${root}/hung-${index}`);
  for (const target of targets) await mounts.hang(target);
  let over = 0;
  const outcomes = targets.map((path) =>
    assert.rejects(statAt(calls, path), VolumeNotAnsweringError).finally(() => over++),
  );
  // A pool with hung threads would never come to these.
  for (let index = 0; index < 20; index++) await stat(root);
  assert.ok(over < targets.length, "the calls hang meanwhile");
  await Promise.all(outcomes);
  // Known to hang: refused without a wait for a helper.
  await assert.rejects(statAt(calls, targets[39] ?? ""), VolumeNotAnsweringError);
});

test("A mount that responds again gets calls again after its rest", { skip }, async (t) => {
  const { calls, mounts, root } = calling(t);
  await mounts.hang(`${root}/hung`);
  await assert.rejects(statAt(calls, `${root}/hung/file`), (error) => {
    assert.ok(error instanceof VolumeNotAnsweringError);
    assert.match(error.message, /silent-server \(fuse, mounted at .*\/hung\), which has not responded since 20/);
    return true;
  });
  await mounts.release(`${root}/hung`);
  writeFileSync(`${root}/hung/file`, "");
  assert.equal((await statAt(calls, `${root}/hung/file`)).uid, 0);
});

test("A helper that is killed makes room for the next call", { skip }, async (t) => {
  const { calls, started, mounts, root } = calling(t);
  for (const name of ["a", "b"]) {
    await mounts.hang(`${root}/${name}`);
    await assert.rejects(statAt(calls, `${root}/${name}`), VolumeNotAnsweringError);
  }
  assert.equal(started(), 2);
});

test("A link in a volume to a mount that hangs is refused and not followed", { skip }, async (t) => {
  const { calls, started, mounts, root } = calling(t);
  await mounts.hang(`${root}/hung`);
  mkdirSync(`${root}/volume`);
  symlinkSync(`${root}/hung/x`, `${root}/volume/absolute`);
  symlinkSync("../hung/x", `${root}/volume/relative`);
  for (const subPath of ["absolute", "relative"]) {
    const request = { volumePath: `${root}/volume`, subPath, target: `${root}/target`, mounted: false };
    await assert.rejects(
      calls.call("bindSubPath", request, { paths: [request.volumePath], below: true }),
      SubPathError,
    );
  }
  assert.equal(started(), 0);
});
