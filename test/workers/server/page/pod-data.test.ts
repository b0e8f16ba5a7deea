// What the stream of the node has of each pod: its text, made once per version, and its usage.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodsDelta } from "../../../../src/shared/contracts/server.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { PodTexts } from "../../../../src/workers/server/page/pod-texts.js";
import { usageEntries } from "../../../../src/workers/server/page/pod-usage.js";
import { PodList } from "../../../../src/workers/server/pods/pod-list.js";
import type { NodeReadings } from "../../../../src/workers/server/stats/readings.js";
import { pod } from "../../../support/pods.js";

function delta(name: string, phase: string, size = 0): PodsDelta {
  const { metadata, spec } = pod({}, name);
  const annotations = { filling: "x".repeat(size) };
  const text = JSON.stringify({ metadata: { ...metadata, annotations }, spec });
  return {
    set: [
      {
        uid: metadata.uid,
        status: JSON.stringify({ phase }),
        definition: { name, namespace: "default", isDeleting: false, text },
      },
    ],
    removed: [],
  };
}

test("a pod is parsed and made a text once per version, a large one too", () => {
  const list = new PodList(() => Promise.resolve());
  list.apply(delta("small", "Pending"));
  list.apply(delta("large", "Pending", 100_000));
  let reads = 0;
  const texts = new PodTexts({
    *versions() {
      for (const one of list.versions()) yield { ...one, read: () => (reads++, one.read()) };
    },
  });
  const first = texts.entries();
  assert.equal(reads, 2);
  assert.equal(texts.entries().get("pod/uid-large"), first.get("pod/uid-large"));
  assert.equal(reads, 2);
  list.apply(delta("large", "Running", 100_000));
  assert.match(texts.entries().get("pod/uid-large") ?? "", /"phase":"Running"/);
  assert.equal(reads, 3);
  list.apply({ set: [], removed: [podUid("uid-small")] });
  assert.deepEqual([...texts.entries().keys()], ["pod/uid-large"]);
  texts.clear();
  texts.entries();
  assert.equal(reads, 4, "nothing was kept");
});

test("usage has CPUs and the working set of pod and containers; a rate that is not known yet is absent", () => {
  const reading = (workingSet: number, rate?: number): object => ({
    ...{ path: "/p", at: 1, memory: { workingSet } },
    cpu: { usage: 5, ...(rate !== undefined && { rate }) },
  });
  const readings = {
    pods: [
      {
        place: { pod: pod() },
        reading: reading(300, 250_400_000),
        containers: [{ place: { name: "app" }, reading: reading(200) }],
      },
    ],
  } as unknown as NodeReadings;
  assert.deepEqual(
    [...usageEntries(readings)].map(([key, text]) => [key, JSON.parse(text) as unknown]),
    [["usage/uid-web", { cpu: 0.25, memory: 300, containers: [{ name: "app", memory: 200 }] }]],
  );
});
