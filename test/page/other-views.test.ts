// The views of the node, of images and of a pod's log, as values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { containersOf } from "../../src/cli/why/input.js";
import { firstSource, logSources } from "../../src/page/log-sources.js";
import { imagesView } from "../../src/page/views/images.js";
import { nodeConditions, resourcesTable } from "../../src/page/views/node-resources.js";
import type { NodeFacts } from "../../src/shared/contracts/nodelet.js";
import { containerStatus, node, pod, RUNNING, RUNTIME } from "../cli/kit.js";
import { all, rowsOf, textOf } from "../support/vnodes.js";

function factsOf(fields: Partial<NodeFacts> = {}): NodeFacts {
  const { facts } = node(fields);
  assert.ok(facts);
  return facts;
}

test("resources have capacity, allocatable, and what unfinished pods request", () => {
  const wants = (cpu: string) => ({ containers: [{ name: "app", resources: { requests: { cpu } } }] });
  const pods = [
    pod({ phase: "Running" }, wants("500m"), "a"),
    pod({ phase: "Running" }, { containers: [{ name: "app", resources: { limits: { cpu: "250m" } } }] }, "b"),
    pod({ phase: "Succeeded" }, wants("1"), "c"),
  ];
  assert.deepEqual(rowsOf(resourcesTable(factsOf(), pods)), [
    ["cpu", "2", "2", "750m 38 %"],
    ["memory", "8.0 GiB", "7.0 GiB", "0 B 0 %"],
    ["pods", "110", "110", "2 2 %"],
  ]);
});

test("a stand-alone node has the conditions that its Node object would have", () => {
  const types = (facts: NodeFacts): string[] => nodeConditions(facts).map(({ type, status }) => `${type}=${status}`);
  assert.deepEqual(types(factsOf()), ["Ready=True", "MemoryPressure=False", "DiskPressure=False", "PIDPressure=False"]);
  const runtime = { ...RUNTIME, reachable: false, message: "connection refused" };
  const ill = factsOf({ runtime, pressures: [{ type: "DiskPressure", since: 5 }] });
  assert.deepEqual(types(ill), ["Ready=False", "MemoryPressure=False", "DiskPressure=True", "PIDPressure=False"]);
  const given = [{ type: "Ready", status: "True" as const }];
  assert.equal(nodeConditions(factsOf({ conditions: given })), given);
});

test("an image of many pods links the first ones and counts the others", () => {
  const usedBy = Array.from({ length: 40 }, (_, index) => `default/p${String(index).padStart(2, "0")}`);
  const view = imagesView({
    images: { images: [{ id: "sha256:1", names: ["web:1"], sizeBytes: 5, pinned: false, usedBy }] },
    ...{ problem: undefined, filter: "", onFilter: () => undefined },
    sorting: { by: "", onSort: () => undefined },
  });
  assert.deepEqual(all(view, "a").map(textOf), ["p00", "p01", "p02"]);
  assert.match(textOf(view), /and 37 more/);
});

test("the log shows the app container first, and while none has run the init container that ran last", () => {
  const one = (app: object, init: object) =>
    logSources(
      containersOf(
        pod(
          {
            initContainerStatuses: [{ ...containerStatus(RUNNING), name: "init", ...init }],
            containerStatuses: [{ ...containerStatus(RUNNING), ...app }],
          },
          { initContainers: [{ name: "init" }] },
        ),
      ),
    );
  const both = one({ containerID: "c1" }, { containerID: "i1" });
  assert.deepEqual(
    both.map(({ label }) => label),
    ["app", "init (init container)"],
  );
  assert.equal(firstSource(both)?.name, "app");
  assert.equal(firstSource(one({}, { containerID: "i1" }))?.name, "init");
  assert.equal(firstSource(one({}, {}))?.name, "app");
  const restarting = { state: { waiting: {} }, lastState: { terminated: { exitCode: 1, containerID: "c0" } } };
  assert.equal(one(restarting, {})[0]?.run, "c0");
  assert.equal(firstSource([]), undefined);
});
