// Records of pods that outlive the kubelet, on a real disk.

import assert from "node:assert/strict";
import { once } from "node:events";
import { watch } from "node:fs";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { PodRecords } from "../../../../src/main/pods/sync/pod-records.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { ContainerStatus } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { type ObservedPod, observedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { emptyObservation } from "../../../support/sync-kit.js";

async function build(context: TestContext) {
  const folder = join(await temporaryFolder(context), "nodelet", "pods");
  const kept = keptLog();
  const make = (): PodRecords => new PodRecords(folder, new SteppedClock(), kept.log);
  return { folder, kept, make };
}

const observedPod = (uid: string, ids: readonly string[]): ObservedPod => ({
  ...emptyObservation(uid, 1),
  containers: ids.map((id) => observedContainer(ContainerStatus.fromPartial({ id }))),
});

function admit(records: PodRecords, one: Pod): void {
  records.accept(one, at("2026-01-01T00:00:00Z"));
  records.admitted(one.metadata.uid);
}

const at = (text: string): Date => new Date(text);

test("definition, start time and termination are read back by the next kubelet", async (t) => {
  const { make } = await build(t);
  const first = make();
  await first.load();
  first.accept(pod(), at("2026-01-02T03:04:05.678Z"));
  await first.terminating(podUid("uid-web"), { deadline: steadyTime(42), reason: "removed" });
  const second = make();
  await second.load();
  assert.deepEqual(second.uids(), ["uid-web"]);
  const bootId = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  assert.deepEqual(second.get(podUid("uid-web")), {
    version: 1,
    bootId,
    pod: pod(),
    startTime: "2026-01-02T03:04:05Z",
    termination: { deadline: 42, reason: "removed" },
    clockOffset: 0,
  });
});

test("deadlines go on by the clock of the next kubelet, even if the wall clock was set meanwhile", async (t) => {
  const { folder, kept } = await build(t);
  const by = (lead: number, monotonicMs: number): PodRecords => {
    const clock = new SteppedClock();
    clock.step(monotonicMs);
    clock.steady = () => steadyTime(clock.monotonic() + lead);
    return new PodRecords(folder, clock, kept.log);
  };
  const first = by(1_000_000, 500);
  await first.load();
  first.accept(pod(), at("2026-01-01T00:00:00Z"));
  await first.failing(podUid("uid-web"), { reason: "Evicted", message: "m" }, steadyTime(1_060_500));
  await first.terminating(podUid("uid-web"), { deadline: steadyTime(1_030_500), reason: "removed" });
  for (const lead of [1_000_000, 1_000_000 - 7_200_000, 1_000_000 + 7_200_000]) {
    const next = by(lead, 10_500);
    await next.load();
    const { termination, failure } = next.get(podUid("uid-web")) ?? {};
    // 30 and 60 s after what was 500 by the monotonic clock.
    assert.deepEqual([termination?.deadline, failure?.deadline], [lead + 30_500, lead + 60_500]);
    // All its times are by its own clock.
    await next.terminating(podUid("uid-web"), { deadline: steadyTime(lead + 20_500), reason: "sooner" });
    const last = by(1_000_000, 11_000);
    await last.load();
    assert.equal(last.get(podUid("uid-web"))?.failure?.deadline, 1_060_500);
    assert.equal(last.get(podUid("uid-web"))?.termination?.deadline, 1_020_500);
    await last.terminating(podUid("uid-web"), { deadline: steadyTime(1_030_500), reason: "removed" });
  }
});

test("a pod accepted again keeps its start time and loses the old termination", async (t) => {
  const { make } = await build(t);
  const records = make();
  await records.load();
  records.accept(pod(), at("2026-01-01T00:00:00Z"));
  await records.terminating(podUid("uid-web"), { deadline: steadyTime(1), reason: "removed" });
  const changed = pod({ hostNetwork: true });
  records.accept(changed, at("2026-02-02T00:00:00Z"));
  const { pod: kept, startTime, termination } = records.get(podUid("uid-web")) ?? {};
  assert.deepEqual([kept, startTime, termination], [changed, "2026-01-01T00:00:00Z", undefined]);
  await records.flush();
});

test("changes that come together are written once", async (t) => {
  const { folder, make } = await build(t);
  const records = make();
  await records.load();
  const written: string[] = [];
  const watcher = watch(folder, (_event, name) => written.push(name ?? ""));
  t.after(() => watcher.close());
  records.accept(pod(), at("2026-01-01T00:00:00Z"));
  records.admitted(podUid("uid-web"));
  await records.terminating(podUid("uid-web"), { deadline: steadyTime(1), reason: "removed" });
  await writeFile(join(folder, "last"), "");
  while (!written.includes("last")) await once(watcher, "change");
  const temporary = new Set(written.filter((name) => name.startsWith(".tmp-")));
  assert.equal(temporary.size, 1, [...temporary].join(" "));
  assert.match(await readFile(join(folder, "uid-web.json"), "utf8"), /"admitted":1.*"termination"/);
});

test("a pod is written with its admission; a rejected one and an equal record are not written", async (t) => {
  const { folder, make } = await build(t);
  const records = make();
  await records.load();
  for (const name of ["admitted", "rejected"]) records.accept(pod({}, name), at("2026-01-01T00:00:00Z"));
  records.admitted(podUid("uid-admitted"));
  await records.flush();
  assert.deepEqual(await readdir(folder), ["uid-admitted.json"]);
  const file = join(folder, "uid-admitted.json");
  await rm(file);
  records.accept(pod({}, "admitted"), at("2026-02-02T00:00:00Z"));
  await records.flush();
  assert.deepEqual(await readdir(folder), [], "nothing new");
  records.accept(pod({ hostname: "h" }, "admitted"), at("2026-02-02T00:00:00Z"));
  records.accept(pod({ hostname: "h" }, "rejected"), at("2026-02-02T00:00:00Z"));
  await records.flush();
  assert.match(await readFile(file, "utf8"), /"startTime":"2026-01-01T00:00:00Z".*"hostname":"h"/);
  assert.equal((await readdir(folder)).length, 1);
});

test("of records of an earlier kubelet, rejected pods are removed and terminal ones lose their definition", async (t) => {
  const { folder, make } = await build(t);
  await make().load();
  const large = "a".repeat(1_000_000);
  const write = async (name: string, fields: object): Promise<void> => {
    const one = pod({ hostname: large }, name);
    one.metadata.annotations = { "kubernetes.io/config.source": "api" };
    const record = { version: 1, pod: one, startTime: "2026-01-01T00:00:00Z", ...fields };
    await writeFile(join(folder, `uid-${name}.json`), JSON.stringify(record));
  };
  await write("rejected", {});
  await write("terminal", { admitted: 1, finalStatus: { phase: "Failed" } });
  await write("running", { admitted: 2 });
  const records = make();
  await records.load();
  await records.flush();
  assert.deepEqual(records.uids().sort(), ["uid-running", "uid-terminal"]);
  assert.equal(records.get(podUid("uid-terminal"))?.finalStatus?.phase, "Failed");
  assert.deepEqual((await readdir(folder)).sort(), ["uid-running.json", "uid-terminal.json"]);
  const sizes = ["running", "terminal"].map(async (name) => (await stat(join(folder, `uid-${name}.json`))).size);
  const [running = 0, terminal = 0] = await Promise.all(sizes);
  assert.ok(running > large.length && terminal < 1000, `${running} ${terminal}`);
});

test("a record beyond the bound of all files is not written, and follows when others are removed", async (t) => {
  const { folder, kept } = await build(t);
  const records = new PodRecords(folder, new SteppedClock(), kept.log, 5000);
  await records.load();
  for (const name of ["a", "b"]) admit(records, pod({ hostname: "h".repeat(3000) }, name));
  await records.flush();
  assert.deepEqual(await readdir(folder), ["uid-a.json"]);
  const { size } = await stat(join(folder, "uid-a.json"));
  assert.deepEqual(records.usage, { bytes: size, unsaved: 1 });
  assert.match(kept.errors().join(), /cannot write pod records .*the records of all pods would take more than/);
  assert.equal(records.get(podUid("uid-b"))?.admitted, 2, "memory has it");
  records.forget(podUid("uid-a"));
  await records.flush();
  await records.flush();
  assert.deepEqual(await readdir(folder), ["uid-b.json"]);
  assert.equal(records.usage.unsaved, 0);
});

test("writes of one pod keep their order, however fast they come", async (t) => {
  const { folder, make } = await build(t);
  const records = make();
  await records.load();
  for (let i = 0; i < 30; i++) admit(records, pod({ hostname: `h${i}` }));
  await records.flush();
  assert.match(await readFile(join(folder, "uid-web.json"), "utf8"), /"hostname":"h29"/);
  records.accept(pod({ hostname: "last" }), at("2026-01-01T00:00:00Z"));
  records.forget(podUid("uid-web"));
  await records.flush();
  assert.deepEqual(await readdir(folder), []);
  assert.equal(records.get(podUid("uid-web")), undefined);
});

test("a pod forgotten and accepted at once is on disk in the end", async (t) => {
  const { folder, make } = await build(t);
  const records = make();
  await records.load();
  admit(records, pod());
  records.forget(podUid("uid-web"));
  records.accept(pod(), at("2026-03-03T00:00:00Z"));
  records.admitted(podUid("uid-web"));
  await records.flush();
  assert.match(await readFile(join(folder, "uid-web.json"), "utf8"), /2026-03-03T00:00:00Z/);
});

test("the termination of an unknown pod, and forgetting one, write nothing", async (t) => {
  const { folder, make } = await build(t);
  const records = make();
  await records.load();
  void records.terminating(podUid("uid-web"), { deadline: steadyTime(1), reason: "removed" });
  records.forget(podUid("uid-web"));
  await records.flush();
  assert.deepEqual(await readdir(folder), []);
});

function bad(fields: Record<string, unknown>): string {
  return JSON.stringify({ version: 1, pod: pod({}, "bad", "bad"), startTime: "2026-01-01T00:00:00Z", ...fields });
}

const garbage: [string, string][] = [
  ["half a file", '{"version":1,"pod":{"metadata"'],
  ["nothing", ""],
  ["null", "null"],
  ["another version", '{"version":2,"pod":{"metadata":{"uid":"u"}},"startTime":"x"}'],
  ["no pod", '{"version":1,"startTime":"x"}'],
  ["a pod without metadata", '{"version":1,"pod":{},"startTime":"x"}'],
  ["half a failure", bad({ failure: { reason: "Evicted" } })],
  ["a status without phase", bad({ finalStatus: {} })],
  ["preStop hooks that are no list", bad({ preStopsDone: "id" })],
  ["no start time", '{"version":1,"pod":{"metadata":{"uid":"u"}}}'],
];
for (const [what, text] of garbage) {
  test(`garbage is set aside and the rest is loaded: ${what}`, async (t) => {
    const { folder, kept, make } = await build(t);
    const first = make();
    await first.load();
    admit(first, pod());
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

test("unwritable records are reported once until a write works again, and cost nothing else", async (t) => {
  const { folder, kept, make } = await build(t);
  const records = make();
  await records.load();
  await rm(folder, { recursive: true });
  await writeFile(folder, "a file where the folder was");
  for (const name of ["a", "b", "c"]) {
    records.accept(pod({}, name), at("2026-01-01T00:00:00Z"));
    void records.terminating(podUid(`uid-${name}`), { deadline: steadyTime(1), reason: "removed" });
  }
  await records.flush();
  assert.equal(kept.errors().length, 1);
  assert.match(kept.errors()[0] ?? "", /cannot write pod records to .*pods: .*pods keep running/);
  assert.equal(records.get(podUid("uid-a"))?.termination?.deadline, 1, "memory still has it");
  await rm(folder);
  await make().load();
  admit(records, pod({}, "d"));
  await records.flush();
  // One write that works has the others tried again.
  await records.flush();
  assert.deepEqual(
    (await readdir(folder)).sort(),
    ["a", "b", "c", "d"].map((name) => `uid-${name}.json`),
  );
  await rm(folder, { recursive: true });
  await writeFile(folder, "");
  admit(records, pod({}, "e"));
  await records.flush();
  assert.equal(kept.errors().length, 2, "the next problem is reported again");
});

test("10,000 preStop hooks leave those of containers that are still there, in memory and on disk", async (t) => {
  const { make } = await build(t);
  const records = make();
  await records.load();
  records.accept(pod(), at("2026-01-01T00:00:00Z"));
  for (let restart = 1; restart <= 10_000; restart++) {
    records.preStopDone(podUid("uid-web"), containerIdOf(`id-${restart}`));
    records.preStopsSeen(observedPod("uid-web", [`id-${restart}`]));
  }
  assert.deepEqual(records.preStopsDone(podUid("uid-web")), ["id-10000"]);
  await records.flush();
  const next = make();
  await next.load();
  assert.deepEqual(next.preStopsDone(podUid("uid-web")), ["id-10000"]);
  next.preStopsSeen(observedPod("uid-web", []));
  assert.deepEqual(next.preStopsDone(podUid("uid-web")), []);
});

test("how a pod ended, its place in the order of admission and its preStop hooks are read back", async (t) => {
  const { make } = await build(t);
  const first = make();
  await first.load();
  for (const name of ["b", "a", "c", "late"]) first.accept(pod({}, name), at("2026-01-01T00:00:00Z"));
  for (const name of ["b", "a", "c"]) first.admitted(podUid(`uid-${name}`));
  await first.failing(podUid("uid-a"), { reason: "Evicted", message: "too much" }, steadyTime(77));
  first.ended(podUid("uid-a"), { phase: "Failed", reason: "Evicted" });
  first.preStopDone(podUid("uid-b"), containerIdOf("id-1"));
  first.preStopDone(podUid("uid-b"), containerIdOf("id-1"));
  await first.keepEndDeadline(podUid("uid-b"), steadyTime(30_000));
  await first.keepEndDeadline(podUid("uid-c"), steadyTime(30_000));
  await first.keepEndDeadline(podUid("uid-c"), undefined);
  await first.flush();
  const second = make();
  await second.load();
  const record = second.get(podUid("uid-a"));
  assert.deepEqual(record?.failure, { reason: "Evicted", message: "too much", deadline: 77 });
  assert.deepEqual(record.finalStatus, { phase: "Failed", reason: "Evicted" });
  assert.deepEqual(second.preStopsDone(podUid("uid-b")), ["id-1"]);
  assert.deepEqual(second.preStopsDone(podUid("uid-c")), []);
  assert.deepEqual([second.endDeadline(podUid("uid-b")), second.endDeadline(podUid("uid-c"))], [30_000, undefined]);
  const order = (): string[] => second.unendedPods().map(({ metadata }) => metadata.name);
  assert.deepEqual(order(), ["b", "c"], "neither what has ended nor what was never admitted");
  second.accept(pod({}, "c"), at("2026-02-02T00:00:00Z"));
  second.accept(pod({}, "late"), at("2026-02-02T00:00:00Z"));
  second.admitted(podUid("uid-late"));
  second.admitted(podUid("uid-b"));
  assert.deepEqual(order(), ["b", "c", "late"], "no caller loses its place");
  await second.flush();
});

test("a completed pod stays terminated until its definition changes; a failed one stays failed", async (t) => {
  const { make } = await build(t);
  const records = make();
  await records.load();
  const now = at("2026-01-01T00:00:00Z");
  for (const name of ["done", "failed"]) {
    records.accept(pod({}, name), now);
    if (name === "failed")
      void records.failing(podUid(`uid-${name}`), { reason: "Evicted", message: "" }, steadyTime(1));
    records.ended(podUid(`uid-${name}`), { phase: "Failed" });
    const seen = pod({}, name);
    seen.metadata.annotations = { "kubernetes.io/config.seen": "later" };
    records.accept(seen, now);
    assert.ok(records.get(podUid(`uid-${name}`))?.finalStatus, "the same definition, reported again");
    await records.keepEndDeadline(podUid(`uid-${name}`), steadyTime(30_000));
    records.accept(pod({ hostNetwork: true }, name), now);
  }
  assert.deepEqual(
    [records.endDeadline(podUid("uid-done")), records.endDeadline(podUid("uid-failed"))],
    [undefined, 30_000],
  );
  assert.equal(records.get(podUid("uid-done"))?.finalStatus, undefined);
  assert.ok(records.get(podUid("uid-failed"))?.finalStatus);
  assert.equal(records.get(podUid("uid-failed"))?.failure?.reason, "Evicted");
  await records.flush();
});

test("a record from before the machine's last start belongs to a pod that no longer exists: it is removed", async (t) => {
  const { folder, kept, make } = await build(t);
  const first = make();
  await first.load();
  for (const name of ["old", "new"]) admit(first, pod({}, name));
  await first.flush();
  const file = join(folder, "uid-old.json");
  const record = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
  await writeFile(file, JSON.stringify({ ...record, bootId: "another" }));
  const second = make();
  await second.load();
  await second.flush();
  assert.deepEqual(second.uids(), ["uid-new"]);
  assert.deepEqual(await readdir(folder), ["uid-new.json"]);
  assert.deepEqual(kept.warnings(), []);
});
