// The words after `npm test --`, as a table.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { select } from "../../harness/selection.js";
import { suiteOf } from "../../harness/suites.js";

const SOURCES = [
  "shared/base/queue/ring.test.ts",
  "workers/prober/probes.test.ts",
  "integration/probes.test.ts",
  "integration/cri-client.test.ts",
  "integration/start-docker.test.ts",
  "cluster/pods.test.ts",
  "faults/hostile-containers.test.ts",
  "hostile/tenant.test.ts",
  "vm/node.test.ts",
];

function chosen(...words: string[]): string[] {
  return select(SOURCES, { words }).map(({ suite, name }) => `${suite} ${name}`);
}

describe("words after npm test --", () => {
  test("without words the units and the core run", () => {
    assert.deepEqual(chosen(), [
      "unit shared/base/queue/ring",
      "unit workers/prober/probes",
      "core integration/probes",
      "core faults/hostile-containers",
    ]);
  });
  test("all runs each suite once and the core's files with their suites", () => {
    assert.deepEqual(chosen("all"), [
      "unit shared/base/queue/ring",
      "unit workers/prober/probes",
      "integration integration/probes",
      "integration integration/cri-client",
      "integration integration/start-docker",
      "cluster cluster/pods",
      "faults faults/hostile-containers",
      "hostile hostile/tenant",
      "on-containerd2 integration/probes",
      "on-containerd2 integration/cri-client",
      "on-docker integration/probes",
      "on-docker integration/start-docker",
      "on-node22 integration/probes",
      "on-node22 faults/hostile-containers",
      "on-installed-node integration/probes",
      "on-installed-node faults/hostile-containers",
      "vm vm/node",
    ]);
  });
  const rows: [words: string[], jobs: string[]][] = [
    [["cluster"], ["cluster cluster/pods"]],
    [["unit", "queue"], ["unit shared/base/queue/ring"]],
    [["ring"], ["unit shared/base/queue/ring"]],
    [["probes"], ["unit workers/prober/probes", "integration integration/probes"]],
    [["on-docker", "probes"], ["on-docker integration/probes"]],
    [["integration/probes.test"], ["integration integration/probes"]],
  ];
  for (const [words, jobs] of rows) test(words.join(" "), () => assert.deepEqual(chosen(...words), jobs));

  const wrong: [words: string[], message: RegExp][] = [
    [["integraton"], /no suite and no test file matches "integraton"; did you mean integration\?/],
    [["on-instaled"], /matches "on-instaled"; did you mean on-installed-/],
    [["probess"], /matches "probess"; did you mean probes\?/],
    [["unit", "cluster/pods"], /no suite and no test file in unit matches "cluster\/pods"; it is in cluster \(/],
    [["vm/node"], /no test file matches "vm\/node"; it is in vm: name that suite, too \(/],
    [["ring", "zzzzzzzz"], /matches "zzzzzzzz" \(test\/README\.md lists the suites\)/],
  ];
  for (const [words, message] of wrong) {
    test(`${words.join(" ")} is refused with one line`, () => assert.throws(() => chosen(...words), message));
  }

  test("a chosen runtime replaces the installed containerd only", () => {
    const lanes = select(SOURCES, { words: ["unit", "cluster", "vm"], lane: "docker" }).map(({ lane }) => lane);
    assert.deepEqual(lanes, ["plain", "plain", "docker", "machine"]);
  });
  const variants: [lane: "containerd2" | undefined, words: string[], suites: string[]][] = [
    [undefined, ["all", "cri-client"], ["integration", "on-containerd2"]],
    ["containerd2", ["all", "cri-client"], ["integration", "on-installed-containerd"]],
    ["containerd2", ["on-containerd2", "cri-client"], ["on-containerd2"]],
    [undefined, ["on-installed-containerd", "cri-client"], ["on-installed-containerd"]],
  ];
  for (const [lane, words, suites] of variants) {
    test(`${words.join(" ")} on ${lane ?? "the installed containerd"} runs no file twice on one runtime`, () => {
      const jobs = select(SOURCES, { words, ...(lane === undefined ? {} : { lane }) });
      assert.deepEqual(
        jobs.map(({ suite }) => suite),
        suites,
      );
      assert.equal(new Set(jobs.map((job) => job.lane)).size, jobs.length);
    });
  }
  test("suites of another Node.js have lanes of their own", () => {
    const lanes = select(SOURCES, { words: ["on-node22", "on-installed-node", "probes"] }).map(({ lane }) => lane);
    assert.deepEqual(lanes, ["node22", "installed-node"]);
  });
  test("the folder of a source is its suite", () => {
    assert.equal(suiteOf("shared/base/queue/ring.test.ts"), "unit");
    assert.equal(suiteOf("faults/kill.test.ts"), "faults");
  });
});
