// Containers that are resized in place, restarted, or wait.

import assert from "node:assert/strict";
import { test } from "node:test";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import type { Container, ResourceRequirements } from "../../../../src/shared/kubernetes/api/pod.js";
import { lines, NOW, planOf, type Situation } from "../../../support/plan-rows.js";
import { container, pod } from "../../../support/pods.js";

const SMALL = { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "64Mi" } };
const MORE_CPU = { ...SMALL, requests: { cpu: "200m", memory: "64Mi" } };
const MORE_MEMORY = { ...SMALL, limits: { memory: "128Mi" } };

const one = (resources: ResourceRequirements, fields: Partial<Container> = {}) =>
  container("a", { resources, ...fields });
const sidecar = (resources: ResourceRequirements, fields: Partial<Container> = {}) =>
  container("s", { resources, restartPolicy: "Always", ...fields });
const forMemory = { resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }] };
const given = (containers: Record<string, ResourceRequirements>, podLevel?: ResourceRequirements) => ({
  resize: { actuated: { containers, ...(podLevel && { pod: podLevel }) } },
});
const seen = { a: "running" };

const table: [name: string, situation: Situation, expected: string[], resizing: boolean][] = [
  ["nothing differs", { pod: pod({ containers: [one(SMALL)] }), seen, ...given({ a: SMALL }) }, [], false],
  ["in place", { pod: pod({ containers: [one(MORE_CPU)] }), seen, ...given({ a: SMALL }) }, ["resize a"], true],
  [
    "what was given is not known: it is given again, and that is no resize",
    { pod: pod({ containers: [one(SMALL)] }), seen, resize: { actuated: undefined } },
    ["resize a"],
    false,
  ],
  [
    "no starts without resources",
    { pod: pod({ containers: [one(MORE_CPU)] }), seen: {}, ...given({ a: SMALL }) },
    ["start a"],
    false,
  ],
  [
    "a policy for memory, and memory",
    { pod: pod({ containers: [one(MORE_MEMORY, forMemory)] }), seen, ...given({ a: SMALL }) },
    ["kill a 30s: Container a resize requires restart"],
    true,
  ],
  [
    "a policy for memory, and CPU",
    { pod: pod({ containers: [one(MORE_CPU, forMemory)] }), seen, ...given({ a: SMALL }) },
    ["resize a"],
    true,
  ],
  [
    "stopped for it and not started yet: the resize goes on",
    {
      pod: pod({ containers: [one(MORE_MEMORY, forMemory)] }),
      seen: { a: "exited 0" },
      restarting: ["a"],
      ...given({ a: SMALL }),
    },
    ["start a"],
    true,
  ],
  [
    "one in place beside one that restarts",
    {
      pod: pod({ containers: [one(MORE_MEMORY, forMemory), container("b", { resources: MORE_CPU })] }),
      seen: { a: "running", b: "running" },
      ...given({ a: SMALL, b: SMALL }),
    },
    ["resize b", "kill a 30s: Container a resize requires restart"],
    true,
  ],
  [
    "who is stopped for another reason gets its values at the next start",
    { pod: pod({ containers: [one(MORE_CPU)] }), seen: { a: "running changed" }, ...given({ a: SMALL }) },
    ["kill a 30s: Container a definition changed, will be restarted"],
    true,
  ],
  [
    "a resize before the starts of others",
    {
      pod: pod({ containers: [one(MORE_CPU), container("b")] }),
      seen,
      ...given({ a: SMALL }),
    },
    ["resize a", "start b"],
    true,
  ],
  [
    "a sidecar in place",
    {
      pod: pod({ initContainers: [sidecar(MORE_CPU)], containers: [one(SMALL)] }),
      seen: { s: "running", a: "running" },
      ...given({ a: SMALL, s: SMALL }),
    },
    ["resize s"],
    true,
  ],
  [
    "a sidecar that restarts",
    {
      pod: pod({ initContainers: [sidecar(MORE_MEMORY, forMemory)], containers: [one(SMALL)] }),
      seen: { s: "running", a: "running" },
      ...given({ a: SMALL, s: SMALL }),
    },
    ["kill s 30s: Init container s resize requires restart"],
    true,
  ],
  [
    "an init container while it runs",
    {
      pod: pod({ initContainers: [container("i", { resources: MORE_CPU })], containers: [one(SMALL)] }),
      seen: { i: "running" },
      ...given({ i: SMALL }),
    },
    ["resize i"],
    true,
  ],
  [
    "pod level: the pod alone, where every container has a limit of its own",
    {
      pod: pod({ containers: [one(SMALL)], resources: { limits: { memory: "2Gi" } } }),
      seen,
      ...given({ a: SMALL }, { limits: { memory: "1Gi" } }),
    },
    ["resize "],
    true,
  ],
  [
    "pod level: a container without a memory limit follows",
    {
      pod: pod({ containers: [container("a"), container("b", { resources: SMALL })], resources: MORE_MEMORY }),
      seen: { a: "running", b: "running" },
      ...given({ a: {}, b: SMALL }, SMALL),
    },
    ["resize a"],
    true,
  ],
  [
    "pod level: a policy for memory, and a memory limit that the container takes from the pod",
    {
      pod: pod({
        containers: [container("a", forMemory), container("b", { resources: SMALL, ...forMemory })],
        resources: MORE_MEMORY,
      }),
      seen: { a: "running", b: "running" },
      ...given({ a: {}, b: SMALL }, SMALL),
    },
    ["resize ", "kill a 30s: Container a resize requires restart"],
    true,
  ],
  [
    "pod level: a policy for memory, and a limit of CPU from the pod",
    {
      pod: pod({ containers: [container("a", forMemory)], resources: { limits: { cpu: "2" } } }),
      seen,
      ...given({ a: {} }, { limits: { cpu: "1" } }),
    },
    ["resize a"],
    true,
  ],
  [
    "pod level: after a failed resize the container does not restart again",
    {
      pod: pod({ containers: [container("a", forMemory)], resources: MORE_MEMORY }),
      seen,
      resize: { actuated: { containers: { a: {} }, pod: SMALL }, retryAt: steadyTime(NOW - 1) },
    },
    ["resize a"],
    true,
  ],
  [
    "pod level: the pod's limit is in force, but a container that was stopped for it has not started yet: the resize goes on",
    {
      pod: pod({ containers: [container("a", forMemory)], resources: MORE_MEMORY }),
      seen: { a: "exited 137" },
      restarting: ["a"],
      resizing: ["a"],
      ...given({ a: {} }, MORE_MEMORY),
    },
    ["start a"],
    true,
  ],
  [
    "pod level: the pod's limit is in force, and a container restarts for another reason",
    {
      pod: pod({ containers: [container("a", forMemory)], resources: MORE_MEMORY }),
      seen: { a: "exited 137" },
      restarting: ["a"],
      ...given({ a: {} }, MORE_MEMORY),
    },
    ["start a"],
    false,
  ],
];
for (const [name, situation, expected, resizing] of table) {
  test(name, () => {
    const plan = planOf(situation);
    assert.deepEqual(lines(plan), expected);
    assert.equal(plan.resizing === true, resizing);
  });
}

test("after a failure nothing is tried until its time, and the plan wakes then", () => {
  const situation = { pod: pod({ containers: [one(MORE_CPU)] }), seen };
  const { resize } = given({ a: SMALL });
  const waits = planOf({ ...situation, resize: { ...resize, retryAt: steadyTime(NOW + 500) } });
  assert.deepEqual([lines(waits), waits.wakeAt, waits.resizing], [[], NOW + 500, true]);
  assert.deepEqual(lines(planOf({ ...situation, resize: { ...resize, retryAt: steadyTime(NOW) } })), ["resize a"]);
});
