// Ephemeral containers: started once in a running pod, gating nothing, gone with the pod.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EphemeralContainer } from "../../../../src/shared/kubernetes/api/pod.js";
import { lines, planOf, type Seen } from "../../../support/plan-rows.js";
import { container, pod } from "../../../support/pods.js";

const debug: EphemeralContainer = { ...container("debug"), targetContainerName: "app" };
const wanted = pod({ restartPolicy: "Never", ephemeralContainers: [debug] });

const rows: [string, Seen, string[]][] = [
  ["started beside a running app", { app: "running" }, ["start debug"]],
  ["started even before the apps", {}, ["start debug", "start app"]],
  ["running", { debug: "running", app: "running" }, []],
  ["ended: never again", { debug: "exited 1", app: "running" }, []],
  ["ended in an earlier sandbox: never again", { app: "running", debug: "exited 137 old" }, []],
  ["changed: left alone", { debug: "running changed", app: "running" }, []],
  ["made but never started", { debug: "created", app: "running" }, ["start debug"]],
  ["not in a pod that is over", { app: "exited 0" }, ["stop-sandbox", "finished"]],
  [
    "does not keep a pod going",
    { debug: "running", app: "exited 0" },
    ["kill debug 30s: all containers have exited and none will start again"],
  ],
];
describe("ephemeral containers", () => {
  for (const [name, seen, expected] of rows) {
    test(name, () => assert.deepEqual(lines(planOf({ pod: wanted, seen })), expected));
  }

  test("do not wait for init containers", () => {
    const early = pod({ initContainers: [container("init")], ephemeralContainers: [debug] });
    assert.deepEqual(lines(planOf({ pod: early, seen: { init: "running" } })), ["start debug"]);
  });

  test("wait for a sandbox", () => {
    assert.deepEqual(lines(planOf({ pod: wanted, sandboxes: [] })), ["create-sandbox 0"]);
  });

  test("join the target only while it runs in the pod's sandbox", () => {
    const target = (seen: Seen): string | undefined => {
      const [step] = planOf({ pod: wanted, seen }).steps;
      assert.ok(step?.kind === "start-container" && step.containerKind === "ephemeral");
      return step.targetContainerId;
    };
    assert.equal(target({ app: "running" }), "id-app");
    assert.equal(target({}), undefined);
    const always = pod({ ephemeralContainers: [debug] });
    const [step] = planOf({ pod: always, seen: { app: "exited 1" } }).steps;
    assert.ok(step?.kind === "start-container" && step.targetContainerId === undefined);
  });
});
