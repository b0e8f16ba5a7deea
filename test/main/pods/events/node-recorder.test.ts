import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeRecorder } from "../../../../src/main/pods/events/node-recorder.js";
import type { Event } from "../../../../src/shared/kubernetes/api/event.js";
import { container, pod } from "../../../support/pods.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

function build() {
  const kept = keptLog();
  const heard: { event: Event; again: boolean }[] = [];
  const counted: string[] = [];
  const recorder = new NodeRecorder({
    nodeName: "node-1",
    clock: new SteppedClock(),
    log: kept.log,
    counters: { recorded: (type) => counted.push(type), suppressed: () => counted.push("suppressed") },
  });
  recorder.sendTo({ put: (event, again) => heard.push({ event, again }), idle: () => Promise.resolve() });
  return { recorder, heard, counted, kept };
}

test("an event of a container names it by its field path", () => {
  const { recorder, heard } = build();
  const subject = pod({ containers: [container("web")], initContainers: [container("fetch")] });
  for (const name of ["web", "fetch"]) {
    recorder.pod(subject, { type: "Normal", reason: "Started", message: "Container started", container: name });
  }
  assert.deepEqual(
    heard.map(({ event }) => event.involvedObject.fieldPath),
    ["spec.containers{web}", "spec.initContainers{fetch}"],
  );
  assert.equal(heard[0]?.event.involvedObject.uid, subject.metadata.uid);
  assert.equal(heard[0].event.source.host, "node-1");
});

test("an event of the node lies in the default namespace", () => {
  const { recorder, heard } = build();
  recorder.node({ type: "Normal", reason: "Starting", message: "Starting kubelet." });
  const [first] = heard;
  assert.ok(first !== undefined);
  assert.deepEqual(first.event.involvedObject, { kind: "Node", name: "node-1", uid: "node-1", apiVersion: "v1" });
  assert.equal(first.event.metadata.namespace, "default");
});

test("a repeated event is kept once with its count; names differ", () => {
  const { recorder } = build();
  const subject = pod({ containers: [container("web")] });
  const { uid } = subject.metadata;
  recorder.pod(subject, { type: "Normal", reason: "Pulled", message: "one" });
  recorder.pod(subject, { type: "Normal", reason: "Created", message: "two" });
  recorder.pod(subject, { type: "Normal", reason: "Pulled", message: "one" });
  const kept = recorder.store.about(uid);
  assert.deepEqual(
    kept.map(({ reason, count }) => `${reason} ${count}`),
    ["Created 1", "Pulled 2"],
  );
  assert.equal(new Set(kept.map(({ metadata }) => metadata.name)).size, 2);
});

test("events that the spam filter drops are counted and kept nowhere", () => {
  const { recorder, counted, heard } = build();
  const subject = pod({ containers: [container("web")] });
  for (let i = 0; i < 30; i++) recorder.pod(subject, { type: "Warning", reason: "Unhealthy", message: "no" });
  assert.equal(counted.filter((one) => one === "suppressed").length, 5);
  assert.equal(heard.length, 25);
});

test("events of every start and end of a container have no log line by default; all others do", () => {
  const { recorder, kept } = build();
  const subject = pod({ containers: [container("web")] });
  for (const reason of ["Pulled", "Created", "Started", "Killing", "DeadlineExceeded"] as const) {
    recorder.pod(subject, { type: "Normal", reason, message: reason });
  }
  recorder.pod(subject, { type: "Warning", reason: "Failed", message: "no" });
  const text = JSON.stringify(kept.lines);
  assert.deepEqual(
    ["Pulled", "Created", "Started", "Killing", "DeadlineExceeded", "Failed"].filter((reason) =>
      text.includes(`event ${reason} of pod`),
    ),
    ["DeadlineExceeded", "Failed"],
  );
});
