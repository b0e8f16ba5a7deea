// The lock as a child process: taken, released, lost, refused.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, test } from "node:test";
import { takeInhibitLock } from "../../../../src/main/node/shutdown/inhibit-lock.js";
import { OperatorError } from "../../../../src/shared/base/errors/operator-error.js";
import { fakeInhibit, type FakeInhibit } from "../../../support/fake-inhibit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const PATH = process.env["PATH"];
const clock = new SteppedClock();
const never = new AbortController().signal;
let base: string | undefined;
let program: FakeInhibit;

beforeEach(async () => {
  base ??= await mkdtemp(join(tmpdir(), "nodelet-inhibit-"));
  program = await fakeInhibit(await mkdtemp(join(base, "n-")));
  process.env["PATH"] = `${program.dir}:${PATH ?? ""}`;
});
afterEach(() => {
  process.env["PATH"] = PATH;
});
after(() => rm(base ?? "", { recursive: true, force: true }));

test("the lock is there when the program runs its command, and goes when it is released", async () => {
  const lock = await takeInhibitLock(clock, never);
  const why = "--why=Kubelet needs time to handle node shutdown";
  assert.deepEqual(await program.log(), [`taken --what=shutdown --mode=delay --who=kubelet ${why} -- cat`]);
  assert.equal(clock.pending, 0);
  lock.release();
  await lock.gone;
  assert.equal((await program.log()).at(-1), "released");
  lock.release();
});

test("a refusal is an error with the program's words", async () => {
  await writeFile(join(program.dir, "refuse"), "The operation is already in progress");
  await assert.rejects(takeInhibitLock(clock, never), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /status 1: Failed to inhibit: The operation is already in progress/);
    return true;
  });
  assert.equal(clock.pending, 0);
});

test("no such program is an error", async () => {
  process.env["PATH"] = join(program.dir, "none");
  await assert.rejects(takeInhibitLock(clock, never), OperatorError);
});

test("a program without output is given up and killed", async () => {
  await writeFile(join(program.dir, "systemd-inhibit"), "#!/bin/sh\nexec sleep 60\n");
  const lock = takeInhibitLock(clock, never);
  clock.step(10_000);
  await assert.rejects(lock, /no response within 10 s/);
});

test("the kubelet's stop is not held up", async () => {
  await writeFile(join(program.dir, "systemd-inhibit"), "#!/bin/sh\nexec sleep 60\n");
  const stopping = new AbortController();
  const lock = takeInhibitLock(clock, stopping.signal);
  stopping.abort(new Error("stop"));
  await assert.rejects(lock, /the kubelet is stopping/);
  assert.equal(clock.pending, 0);
});
