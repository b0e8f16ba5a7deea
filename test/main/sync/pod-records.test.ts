// What outlives the agent about its pods, on a real disk.
import assert from "node:assert/strict";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { PodRecords } from "../../../src/main/sync/pod-records.js";
import { pod } from "../../support/pods.js";
import { keptLog, temporaryFolder } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

async function build(context: TestContext) {
  const folder = join(await temporaryFolder(context), "nodelet", "pods");
  const kept = keptLog();
  const make = (): PodRecords => new PodRecords(folder, new SteppedClock(), kept.log);
  return { folder, kept, make };
}

const at = (text: string): Date => new Date(text);

test("definition, start time and termination are read back by the next agent", async (t) => {
  const { make } = await build(t);
  const first = make();
  await first.load();
  first.accept(pod(), at("2026-01-02T03:04:05.678Z"));
  await first.terminating("uid-web", { deadline: 42, reason: "removed" });
  const second = make();
  await second.load();
  assert.deepEqual(second.uids(), ["uid-web"]);
  assert.deepEqual(second.get("uid-web"), {
    version: 1,
    pod: pod(),
    startTime: "2026-01-02T03:04:05Z",
    termination: { deadline: 42, reason: "removed" },
  });
});

test("a pod accepted again keeps its start time and loses the old termination", async (t) => {
  const { make } = await build(t);
  const records = make();
  await records.load();
  records.accept(pod(), at("2026-01-01T00:00:00Z"));
  await records.terminating("uid-web", { deadline: 1, reason: "removed" });
  const changed = pod({ hostNetwork: true });
  records.accept(changed, at("2026-02-02T00:00:00Z"));
  assert.deepEqual(records.get("uid-web"), { version: 1, pod: changed, startTime: "2026-01-01T00:00:00Z" });
  await records.flush();
});

test("writes of one pod keep their order, however fast they come", async (t) => {
  const { folder, make } = await build(t);
  const records = make();
  await records.load();
  for (let i = 0; i < 30; i++) records.accept(pod({ hostname: `h${i}` }), at("2026-01-01T00:00:00Z"));
  await records.flush();
  assert.match(await readFile(join(folder, "uid-web.json"), "utf8"), /"hostname":"h29"/);
  records.accept(pod({ hostname: "last" }), at("2026-01-01T00:00:00Z"));
  records.forget("uid-web");
  await records.flush();
  assert.deepEqual(await readdir(folder), []);
  assert.equal(records.get("uid-web"), undefined);
});

test("a pod forgotten and accepted at once is on disk in the end", async (t) => {
  const { folder, make } = await build(t);
  const records = make();
  await records.load();
  records.accept(pod(), at("2026-01-01T00:00:00Z"));
  records.forget("uid-web");
  records.accept(pod(), at("2026-03-03T00:00:00Z"));
  await records.flush();
  assert.match(await readFile(join(folder, "uid-web.json"), "utf8"), /2026-03-03T00:00:00Z/);
});

test("the termination of an unknown pod, and forgetting one, write nothing", async (t) => {
  const { folder, make } = await build(t);
  const records = make();
  await records.load();
  void records.terminating("uid-web", { deadline: 1, reason: "removed" });
  records.forget("uid-web");
  await records.flush();
  assert.deepEqual(await readdir(folder), []);
});

const garbage: [string, string][] = [
  ["half a file", '{"version":1,"pod":{"metadata"'],
  ["nothing", ""],
  ["null", "null"],
  ["another version", '{"version":2,"pod":{"metadata":{"uid":"u"}},"startTime":"x"}'],
  ["no pod", '{"version":1,"startTime":"x"}'],
  ["a pod without metadata", '{"version":1,"pod":{},"startTime":"x"}'],
  ["no start time", '{"version":1,"pod":{"metadata":{"uid":"u"}}}'],
];
for (const [what, text] of garbage) {
  test(`garbage is set aside and the rest is loaded: ${what}`, async (t) => {
    const { folder, kept, make } = await build(t);
    const first = make();
    await first.load();
    first.accept(pod(), at("2026-01-01T00:00:00Z"));
    await first.flush();
    await writeFile(join(folder, "bad.json"), text);
    const second = make();
    await second.load();
    assert.deepEqual(second.uids(), ["uid-web"]);
    assert.equal(kept.warnings().length, 1);
    const names = await readdir(folder);
    assert.ok(names.some((name) => name.startsWith("bad.json.corrupt-")));
    assert.ok(!names.includes("bad.json"));
    const third = make();
    await third.load();
    assert.equal(kept.warnings().length, 1, "what was set aside is not told again");
  });
}

test("records that cannot be written are told once until a write works again, and cost nothing else", async (t) => {
  const { folder, kept, make } = await build(t);
  const records = make();
  await records.load();
  await rm(folder, { recursive: true });
  await writeFile(folder, "a file where the folder was");
  for (const name of ["a", "b", "c"]) {
    records.accept(pod({}, name), at("2026-01-01T00:00:00Z"));
    void records.terminating(`uid-${name}`, { deadline: 1, reason: "removed" });
  }
  await records.flush();
  assert.equal(kept.errors().length, 1);
  assert.match(kept.errors()[0] ?? "", /can't be written to .*pods: .*pods go on/);
  assert.equal(records.get("uid-a")?.termination?.deadline, 1, "memory still has it");
  await rm(folder);
  await make().load();
  records.accept(pod({}, "d"), at("2026-01-01T00:00:00Z"));
  await records.flush();
  // One write that works has the others tried again.
  await records.flush();
  assert.deepEqual(
    (await readdir(folder)).sort(),
    ["a", "b", "c", "d"].map((name) => `uid-${name}.json`),
  );
  await rm(folder, { recursive: true });
  await writeFile(folder, "");
  records.accept(pod({}, "e"), at("2026-01-01T00:00:00Z"));
  await records.flush();
  assert.equal(kept.errors().length, 2, "the next trouble is told again");
});
