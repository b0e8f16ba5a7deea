// The downward API: fields in volumes, and resources with their divisors and fallbacks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceFieldValue, volumeFieldValue } from "../../../src/main/model/downward.js";
import { assertCpuBelow } from "../../support/thread-cpu.js";
import { c, makePod } from "../pods/status/fixtures.js";

test("fields in volumes: maps are sorted lines with values as Go quotes them", () => {
  const pod = makePod({}, { labels: { b: 'say "x"\n', a: "ü" }, annotations: { "k/y": "it's" } });
  const rows: [string, string][] = [
    ["metadata.name", "web"],
    ["metadata.namespace", "ns"],
    ["metadata.labels", 'a="ü"\nb="say \\"x\\"\\n"'],
    ["metadata.annotations", 'k/y="it\'s"'],
    ["metadata.labels['b']", 'say "x"\n'],
    ["metadata.annotations['none']", ""],
  ];
  for (const [path, value] of rows) assert.equal(volumeFieldValue(pod, path), value, path);
  assert.equal(volumeFieldValue(makePod({}, { labels: {} }), "metadata.labels"), "");
  for (const path of ["spec.nodeName", "status.podIP"]) {
    assert.throws(() => volumeFieldValue(pod, path), new RegExp(`unsupported fieldPath: ${path}`));
  }
});

test("the text of a pod's labels is made once, however many files have it", () => {
  const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`l${index}`, "v"]));
  const pod = makePod({}, { labels });
  assertCpuBelow(50, () => {
    for (let file = 0; file < 3000; file++) volumeFieldValue(pod, "metadata.labels");
  });
});

test("a label or annotation that is a name of JavaScript's objects is absent unless the pod has it", () => {
  const pod = makePod();
  for (const key of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    assert.equal(volumeFieldValue(pod, `metadata.labels['${key}']`), "");
    const own = { ...pod, metadata: { ...pod.metadata, annotations: Object.fromEntries([[key, "own"]]) } };
    assert.equal(volumeFieldValue(own, `metadata.annotations['${key}']`), "own");
  }
});

test("resources: rounded up by the divisor; an unset limit is the pod's, then the node's", () => {
  const container = c("a", {
    resources: {
      requests: { cpu: "250m", memory: "64Mi" },
      limits: { memory: "100M", "ephemeral-storage": "0", "hugepages-2Mi": "4Mi" },
    },
  });
  const bare = c("b", {});
  const nodeAllocatable = { cpu: "3920m", memory: "7Gi", "ephemeral-storage": "50Gi", "hugepages-2Mi": "64Mi" };
  const pod = makePod({ containers: [container, bare] });
  const rows: [resource: string, divisor: string | undefined, container: string, value: string][] = [
    ["requests.cpu", undefined, "a", "1"],
    ["requests.cpu", "1m", "a", "250"],
    ["requests.cpu", "0", "a", "1"],
    ["requests.cpu", "0Mi", "a", "1"],
    ["requests.memory", "0.0", "a", "67108864"],
    ["requests.memory", "0e5", "a", "67108864"],
    ["requests.memory", "1Mi", "a", "64"],
    ["limits.memory", "1Mi", "a", "96"],
    ["limits.memory", undefined, "a", "100000000"],
    ["limits.cpu", undefined, "a", "4"],
    ["limits.cpu", "1m", "a", "3920"],
    ["limits.ephemeral-storage", "1Gi", "a", "50"],
    ["limits.hugepages-2Mi", "1Mi", "a", "4"],
    ["limits.hugepages-2Mi", "1Mi", "b", "0"],
    // Without a size: a name that nothing has, as in upstream.
    ["limits.hugepages-", "1", "a", "0"],
    ["requests.memory", "1Mi", "b", "0"],
    ["limits.memory", "1Gi", "b", "7"],
  ];
  for (const [resource, divisor, containerName, value] of rows) {
    const ref = { resource, containerName, ...(divisor !== undefined && { divisor }) };
    assert.equal(resourceFieldValue({ pod, nodeAllocatable }, ref), value, `${resource} ${divisor} ${containerName}`);
  }
  const podLevel = makePod({ containers: [bare], resources: { limits: { cpu: "2" } } });
  const limit = resourceFieldValue({ pod: podLevel, nodeAllocatable }, { resource: "limits.cpu" }, bare);
  assert.equal(limit, "2");
  assert.throws(() => resourceFieldValue({ pod }, { resource: "limits.cpu" }), /container {2}not found/);
});
