// The rule RestartAllContainers: the stopped, removed and started containers, their order, and conditions that delay
// it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { newestOf } from "../../../../src/main/model/observed-containers.js";
import { restartCountOf } from "../../../../src/main/model/paths.js";
import { RestartMemory } from "../../../../src/main/pods/planner/restart-memory.js";
import type { Container, Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { Pilot } from "../../../support/pilot.js";
import { lines, planOf } from "../../../support/plan-rows.js";
import { container, pod } from "../../../support/pods.js";

const rules = (...values: number[]): Partial<Container> => ({
  restartPolicyRules: [{ action: "RestartAllContainers", exitCodes: { operator: "In", values } }],
});
const app = container("app", { restartPolicy: "Never", ...rules(88) });
const other = container("other");
const sidecar = (name: string): Container => container(name, { restartPolicy: "Always" });

function running(spec: Partial<PodSpec>, exits: readonly string[] = []): Pilot {
  const pilot = new Pilot(pod({ restartPolicy: "Never", containers: [app, other], ...spec }));
  pilot.settle();
  for (const name of exits) {
    pilot.runtime.exit(name, 0);
    pilot.settle();
  }
  return pilot;
}

/** The steps in order, with names. */
function story(pilot: Pilot): string[] {
  const steps: string[] = [];
  pilot.onStep = (step) => steps.push("name" in step ? `${step.kind.split("-")[0] ?? ""} ${step.name}` : step.kind);
  const done = pilot.settle();
  return done.map((text, index) => (text.startsWith("start ") ? text : (steps[index] ?? "")));
}

describe("RestartAllContainers", () => {
  test("all containers stop, sidecars last and in reverse, and are removed, whichever exited last; the sandbox stays, init runs again", () => {
    const pilot = running({ initContainers: [sidecar("s1"), container("setup"), sidecar("s2")] }, ["setup"]);
    const [sandbox] = pilot.runtime.observed.sandboxes;
    pilot.runtime.exit("app", 88);
    const steps = story(pilot);
    assert.deepEqual(steps.slice(0, 3), ["kill other", "kill s2", "kill s1"]);
    assert.deepEqual(steps.slice(3, 7).toSorted(), ["remove other", "remove s1", "remove s2", "remove setup"]);
    assert.deepEqual(steps.slice(7), ["remove app", "start s1", "start setup"]);
    pilot.runtime.exit("setup", 0);
    assert.deepEqual(pilot.settle(), ["start s2", "start app", "start other"]);
    assert.deepEqual(pilot.runtime.observed.sandboxes, [sandbox]);
  });

  test("preStop hooks are left out", () => {
    const pilot = running({});
    pilot.runtime.exit("app", 88);
    const [step] = pilot.plan().steps;
    assert.ok(step?.kind === "kill-container" && step.withoutPreStop === true && step.restart === undefined);
  });

  test("a removed container continues its restart count from its log files", () => {
    const pilot = running({});
    pilot.runtime.exit("app", 88);
    const counts: (number | undefined)[] = [];
    pilot.onStep = (step) => {
      if (step.kind === "start-container") counts.push(step.restartCount);
    };
    pilot.settle();
    assert.deepEqual(counts, [undefined, undefined]);
  });

  test("the second time within the back-off all containers wait until its end", () => {
    const pilot = running({});
    pilot.runtime.exit("app", 88);
    pilot.settle();
    pilot.runtime.exit("app", 88);
    const { now } = pilot.runtime;
    assert.deepEqual(story(pilot), ["kill other", "remove other"]);
    const plan = pilot.plan();
    assert.equal(plan.waiting.get("app")?.reason, "CrashLoopBackOff");
    assert.equal(plan.wakeAt, now + 10_000);
    assert.deepEqual(plan.restartingAll, { active: true, removed: new Set(["other"]) });
    pilot.runtime.now = now + 10_000;
    assert.deepEqual(pilot.settle(), ["remove-container", "start app", "start other"]);
  });

  test("the plan names removed containers until they exist again", () => {
    const pilot = running({ initContainers: [container("setup")] }, ["setup"]);
    const removed = (): string[] | undefined => {
      const { restartingAll } = pilot.plan();
      return restartingAll && [...restartingAll.removed].toSorted();
    };
    assert.equal(removed(), undefined);
    pilot.runtime.exit("app", 88);
    assert.deepEqual(removed(), []);
    pilot.settle();
    assert.deepEqual(removed(), ["app", "other"], "setup runs again");
    pilot.runtime.exit("setup", 0);
    pilot.settle();
    assert.equal(removed(), undefined);
  });

  test("another kubelet continues it: the container that fired the rule still exists", () => {
    const pilot = running({});
    pilot.runtime.exit("app", 88);
    const { steps } = pilot.plan();
    for (const step of steps) pilot.do(step);
    Object.assign(pilot, { memory: new RestartMemory() });
    assert.deepEqual(pilot.settle(), ["remove-container", "remove-container", "start app", "start other"]);
  });

  test("an ephemeral container stops too, and is not started again", () => {
    const pilot = running({});
    pilot.wanted = { ...pilot.wanted, spec: { ...pilot.wanted.spec, ephemeralContainers: [container("debug")] } };
    assert.deepEqual(pilot.settle(), ["start debug"]);
    pilot.runtime.exit("app", 88);
    const done = pilot.settle();
    assert.equal(done.filter((text) => text === "start debug").length, 0);
    assert.deepEqual(pilot.runtime.running(), ["app", "other"]);
    const debug = newestOf(pilot.runtime.observed, "debug");
    assert.equal(debug && restartCountOf(debug), 0);
  });

  const fires: [string, Pod, Record<string, string>, boolean][] = [
    [
      "a sidecar's exit",
      pod({ initContainers: [{ ...sidecar("s"), ...rules(5) }] }),
      { app: "running", s: "exited 5" },
      true,
    ],
    [
      "an init container's exit",
      pod({ initContainers: [container("i", { restartPolicy: "Never", ...rules(5) })] }),
      { i: "exited 5" },
      true,
    ],
    ["another exit code", pod({ restartPolicy: "Never", containers: [app] }), { app: "exited 1" }, false],
    [
      "a container of an earlier sandbox",
      pod({ containers: [app, other] }),
      { other: "running", app: "exited 88 old" },
      false,
    ],
    ["no policy of its own", pod({ containers: [container("app", rules(5))] }), { app: "exited 5" }, false],
  ];
  for (const [name, wanted, seen, expected] of fires) {
    test(`${name} ${expected ? "fires" : "does not fire"} the rule`, () => {
      const active = (gates = {}) => planOf({ pod: wanted, seen, gates }).restartingAll?.active ?? false;
      assert.equal(active(), expected);
      assert.equal(active({ restartAllContainers: false }), false);
      assert.equal(active({ containerRestartRules: false }), false);
    });
  }

  test("a container stopped for a restart is restarted for every exit code", () => {
    const wanted = pod({
      restartPolicy: "Never",
      containers: [container("app", { restartPolicy: "Never", ...rules(137) })],
    });
    assert.deepEqual(lines(planOf({ pod: wanted, seen: { app: "exited 137" }, restarting: ["app"] })), ["start app"]);
  });
});
