// Events of plans: the kubelet emits each once while successive plans contain it, with upstream's text.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventInput } from "../../../../src/main/model/event-recorder.js";
import { PlanEvents } from "../../../../src/main/pods/planner/plan-events.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import { Pilot } from "../../../support/pilot.js";
import { pod } from "../../../support/pods.js";

function recorder() {
  const emitted: EventInput[] = [];
  return { emitted, events: new PlanEvents({ pod: (_pod, event) => emitted.push(event) }) };
}

test("BackOff is recorded once per wait", () => {
  const { emitted, events } = recorder();
  const pilot = new Pilot(pod());
  const look = (): void => events.emit(pilot.wanted, pilot.plan().events ?? []);
  pilot.settle();
  for (const expected of [0, 1, 2]) {
    pilot.runtime.exit("app", 1);
    look();
    look();
    assert.equal(emitted.length, expected);
    pilot.runtime.now = pilot.plan().wakeAt ?? pilot.runtime.now;
    look();
    pilot.settle();
  }
  assert.deepEqual(emitted[0], {
    type: "Warning",
    reason: "BackOff",
    message: "Back-off restarting failed container app in pod web_default(uid-web)",
    container: "app",
  });
});

test("the back-off of a pull is recorded once per wait, after the error was shown for its second", () => {
  const { emitted, events } = recorder();
  const pilot = new Pilot(pod());
  pilot.plan().steps.forEach((step) => pilot.do(step));
  const { now } = pilot.runtime;
  pilot.failures.set("app", {
    reason: "ErrImagePull",
    message: "not found",
    failedAt: steadyTime(now),
    retryAt: steadyTime(now + 10_000),
  });
  const look = (): void => events.emit(pilot.wanted, pilot.plan().events ?? []);
  look();
  assert.deepEqual(emitted, []);
  pilot.runtime.now = pilot.plan().wakeAt ?? 0;
  look();
  look();
  assert.deepEqual(emitted, [
    { type: "Normal", reason: "BackOff", message: 'Back-off pulling image "registry.test/app:1"', container: "app" },
    { type: "Warning", reason: "Failed", message: "Error: ImagePullBackOff", container: "app" },
  ]);
});

test("each pod has its own events, and a removed pod is forgotten", () => {
  const { emitted, events } = recorder();
  const planned = [{ key: "k", event: { type: "Normal", reason: "SandboxChanged", message: "m" } }] as const;
  const [one, two] = [pod({}, "one"), pod({}, "two")];
  events.emit(one, planned);
  events.emit(two, planned);
  events.emit(one, planned);
  assert.equal(emitted.length, 2);
  events.forget(one.metadata.uid);
  events.emit(one, planned);
  events.emit(two, planned);
  assert.equal(emitted.length, 3);
  events.emit(two, []);
  events.emit(two, planned);
  assert.equal(emitted.length, 4, "a plan without it ended it");
});
