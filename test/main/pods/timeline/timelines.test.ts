import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startSli, type StartSliInput } from "../../../../src/main/model/pod-start-sli.js";
import { traced } from "../../../../src/main/model/pod-trace.js";
import { Timelines } from "../../../../src/main/pods/timeline/timelines.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

function build() {
  const clock = new SteppedClock();
  return { clock, timelines: new Timelines({ clock, events: () => [] }) };
}

describe("the pod start SLI", () => {
  const pull = (startedAt: number, endedAt?: number) => ({
    stage: "pull",
    container: "app",
    startedAt,
    ...(endedAt !== undefined && { endedAt }),
  });
  const init = (name: string, startedAt: number, endedAt: number) => ({
    stage: "init",
    container: name,
    startedAt,
    endedAt,
  });
  const rows: [what: string, stages: StartSliInput["stages"], expected: number][] = [
    ["without pulls and init containers it is the whole time", [], 1000],
    ["a pull does not count", [pull(100, 400)], 700],
    ["pulls side by side are taken off once", [pull(100, 400), pull(200, 500), pull(450, 460)], 600],
    ["an init container does not count", [init("first", 0, 250)], 750],
    ["an init container that is a sidecar counts", [init("sidecar", 0, 250)], 1000],
    ["a pull and an init container that overlap", [pull(0, 300), init("first", 200, 600)], 400],
    ["a pull that began before the pod was seen", [pull(-500, 100)], 900],
    ["a pull that still goes on", [pull(900)], 900],
    ["other stages count", [{ stage: "create-sandbox", startedAt: 0, endedAt: 500 }], 1000],
  ];
  for (const [what, stages, expected] of rows) {
    test(what, () => {
      assert.equal(startSli({ seenAt: 0, runningAt: 1000, stages, initContainers: new Set(["first"]) }), expected);
    });
  }
});

test("stages, phases and the end of a pod are shown in their order", async () => {
  const { clock, timelines } = build();
  const subject = pod({ initContainers: [container("fetch")] }, "web", "u1");
  timelines.accept(subject, 0);
  const endSandbox = timelines.startStage(podUid("u1"), "create-sandbox");
  clock.step(100);
  endSandbox();
  endSandbox(new Error("told twice"));
  await assert.rejects(
    traced(timelines, { uid: podUid("u1"), stage: "pull", container: "app" }, () => {
      clock.step(50);
      return Promise.reject(new Error("no such image"));
    }),
  );
  timelines.initRunning(podUid("u1"), new Set(["fetch"]));
  clock.step(50);
  timelines.initRunning(podUid("u1"), new Set());
  timelines.phase(podUid("u1"), "Running");
  timelines.phase(podUid("u1"), "Running");
  assert.equal(timelines.running(podUid("u1")), 100);
  assert.equal(timelines.running(podUid("u1")), undefined);
  timelines.ended(podUid("u1"));
  assert.deepEqual(timelines.show("default", "web"), {
    namespace: "default",
    name: "web",
    uid: "u1",
    seenAt: 0,
    runningAt: 200,
    startSliMs: 100,
    goneAt: 200,
    phases: [{ at: 200, phase: "Running" }],
    stages: [
      { stage: "create-sandbox", startedAt: 0, endedAt: 100, durationMs: 100 },
      { stage: "pull", container: "app", startedAt: 100, endedAt: 150, durationMs: 50, error: "no such image" },
      { stage: "init", container: "fetch", startedAt: 150, endedAt: 200, durationMs: 50 },
    ],
    stagesDropped: 0,
    events: [],
  });
});

test("of two pods of one name the newer one is shown", () => {
  const { timelines } = build();
  timelines.accept(pod({}, "web", "old"), 10);
  timelines.ended(podUid("old"));
  timelines.accept(pod({}, "web", "new"), 20);
  assert.equal(timelines.show("default", "web")?.uid, "new");
});

test("a pod that comes back under its UID starts a new life", () => {
  const { timelines } = build();
  timelines.accept(pod({}, "web", "u1"), 10);
  timelines.startStage(podUid("u1"), "create-sandbox");
  timelines.ended(podUid("u1"));
  timelines.accept(pod({}, "web", "u1"), 20);
  const shown = timelines.show("default", "web");
  assert.deepEqual([shown?.seenAt, shown?.stages, shown?.goneAt], [20, [], undefined]);
});

test("the stored data is bounded: stages of one pod, and terminated pods", () => {
  const { timelines } = build();
  timelines.accept(pod({}, "web", "u0"), 0);
  for (let i = 0; i < 500; i++) timelines.startStage(podUid("u0"), `stage ${i}`)();
  const shown = timelines.show("default", "web");
  assert.deepEqual([shown?.stages.length, shown?.stagesDropped], [200, 300]);
  assert.equal(shown?.stages[0]?.stage, "stage 300");
  for (let i = 0; i < 150; i++) {
    timelines.accept(pod({}, `p${i}`, `p${i}`), i);
    timelines.ended(podUid(`p${i}`));
  }
  assert.equal(timelines.show("default", "p49"), undefined);
  assert.equal(timelines.show("default", "p50")?.uid, "p50");
  assert.equal(timelines.show("default", "web")?.uid, "u0");
});

test("stages of an unwanted pod are not kept", () => {
  const { timelines } = build();
  timelines.startStage(podUid("nobody"), "create-sandbox")();
  timelines.initRunning(podUid("nobody"), new Set(["fetch"]));
  timelines.ended(podUid("nobody"));
  assert.equal(timelines.show("default", "nobody"), undefined);
});
