// graceful_node_shutdown_state: upstream's form, and whatever else may be in its place.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { ShutdownState } from "../../../../src/main/node/shutdown/shutdown-state.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const FILE = "graceful_node_shutdown_state";
const START = Date.parse("2026-05-01T10:00:00.123Z");

let base: string;
let dir: string;
let kept: ReturnType<typeof keptLog>;
let state: ShutdownState;

before(async () => {
  base = await mkdtemp(join(tmpdir(), "nodelet-shutdown-state-"));
});
after(() => rm(base, { recursive: true, force: true }));
beforeEach(async () => {
  dir = await mkdtemp(join(base, "n-"));
  kept = keptLog();
  state = new ShutdownState(dir, new SteppedClock(), kept.log);
});

const warnings = (): number => kept.warnings().length;

test("a written state reads back, and has upstream's format", async () => {
  assert.deepEqual(await state.read(), {});
  await state.write({ start: START });
  const text = await readFile(join(dir, FILE), "utf8");
  assert.deepEqual(JSON.parse(text), { startTime: "2026-05-01T10:00:00.123Z", endTime: "0001-01-01T00:00:00Z" });
  assert.deepEqual(await state.read(), { start: START });
  await state.write({ start: START, end: START + 5000 });
  assert.deepEqual(await state.read(), { start: START, end: START + 5000 });
  assert.equal(warnings(), 0);
});

test("upstream's nanoseconds and zones are read", async () => {
  const text = `{"startTime":"2026-05-01T12:00:00.123456789+02:00","endTime":"2026-05-01T10:00:09.5Z","more":1}`;
  await writeFile(join(dir, FILE), text);
  assert.deepEqual(await state.read(), { start: START, end: Date.parse("2026-05-01T10:00:09.5Z") });
});

for (const [what, text] of [
  ["an empty file", ""],
  ["garbage", "\u0000\u0001{"],
  ["a cut file", `{"startTime":"2026-`],
  ["no times", `{"startTime":5}`],
  ["another version's times", `{"startTime":{"seconds":1},"endTime":[]}`],
] as const) {
  test(`${what} is set aside with a warning`, async () => {
    await writeFile(join(dir, FILE), text);
    assert.deepEqual(await state.read(), {});
    assert.equal(warnings(), 1);
    assert.match((await readdir(dir)).join(), /^graceful_node_shutdown_state\.corrupt-/);
  });
}

test("a folder in its place is set aside, and the state can be written", async () => {
  await mkdir(join(dir, FILE, "full"), { recursive: true });
  assert.deepEqual(await state.read(), {});
  await state.write({ start: START });
  assert.deepEqual(await state.read(), { start: START });
  assert.equal(warnings(), 1);
});
