// How long the status of an exited container waits for its log.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { PassThrough, Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import type { Engine } from "../../../src/workers/dockershim/engine/engine.js";
import { ContainerLogs } from "../../../src/workers/dockershim/logs/container-logs.js";
import { keptLog, until } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const RECORD = "2026-01-02T03:04:05.000000006Z the end\n";

/** The log of an exited container whose Engine keeps the last record back. */
async function lateLog(t: TestContext) {
  const dir = mkdtempSync(`${tmpdir()}/nodelet-settled-`);
  t.after(() => rmSync(dir, { recursive: true }));
  const first = new PassThrough();
  let requests = 0;
  const docker = {
    getContainer: () => ({
      logs: () => Promise.resolve(requests++ === 0 ? first : Readable.from([])),
      inspect: () => Promise.resolve({ State: { Running: false } }),
    }),
  };
  const engine = {
    call: (signal: AbortSignal, work: (client: unknown, signal: AbortSignal) => unknown) => work(docker, signal),
  } as unknown as Engine;
  const clock = new SteppedClock(1000);
  const logs = new ContainerLogs({ engine, clock, log: keptLog().log });
  t.after(() => logs.stopAll());
  const path = `${dir}/0.log`;
  logs.follow({ id: "c", path, tty: true, adopted: false });
  await until("the log is followed", () => requests > 0);
  /** Whether the status is still withheld. */
  const status = (): { waits: boolean } => {
    const state = { waits: true };
    void logs.settled("c").then(() => (state.waits = false));
    return state;
  };
  return { clock, path, status, sendTheEnd: () => first.end(RECORD) };
}

test("the status comes as soon as the last line is written", async (t) => {
  const { path, status, sendTheEnd } = await lateLog(t);
  const pending = status();
  await new Promise(setImmediate);
  assert.equal(pending.waits, true);
  sendTheEnd();
  await until("the status is given", () => !pending.waits);
  assert.match(readFileSync(path, "utf8"), /the end\n$/);
});

test("the statuses of a container wait ten seconds together, later ones not at all", async (t) => {
  const { clock, status } = await lateLog(t);
  const first = status();
  clock.step(6000);
  const second = status();
  clock.step(3999);
  await new Promise(setImmediate);
  assert.deepEqual([first.waits, second.waits], [true, true]);
  clock.step(1);
  await until("both are given", () => !first.waits && !second.waits);
  const third = status();
  clock.step(0);
  await until("a later one is given at once", () => !third.waits);
});
