// Metrics whose labels have texts of pods, plugins and the runtime.

import assert from "node:assert/strict";
import { test } from "node:test";
import { countingMetrics } from "../../../../src/main/kubelet/runtime-metrics.js";
import { podMetrics } from "../../../../src/main/pods/sync/metrics.js";
import { draMetrics } from "../../../../src/main/resources/dra/metrics.js";
import { csiMetrics } from "../../../../src/main/volumes/csi/metrics.js";
import { volumeMetrics } from "../../../../src/main/volumes/metrics.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";

const COUNT = 2000;

const COUNTERS: Readonly<Record<string, (registry: ThreadRegistry) => (name: string) => void>> = {
  "CSI drivers of volumes": (registry) => {
    const metrics = volumeMetrics(registry);
    return (name) => {
      metrics.operation({ plugin: `kubernetes.io/csi:${name}` }, "volume_mount", 1, false);
      metrics.mounted(`kubernetes.io/csi:${name}`, 1);
    };
  },
  "CSI drivers that are called": (registry) => {
    const metrics = csiMetrics(registry);
    return (name) => metrics.call(name, "/csi.v1.Node/NodePublishVolume", "OK", 1);
  },
  "DRA drivers that are called": (registry) => {
    const metrics = draMetrics(registry, () => []);
    return (name) => metrics.called(name, "/v1.DRAPlugin/NodePrepareResources", "OK", 1);
  },
  "handlers of runtime classes": (registry) => {
    const metrics = countingMetrics(podMetrics(registry), registry);
    return (name) => metrics.sandboxRun(1, false, { handler: name, ownUsers: false });
  },
};

for (const [what, counter] of Object.entries(COUNTERS)) {
  test(`${what} have a bounded number of series, however many names there were`, async () => {
    const registry = new ThreadRegistry("main");
    const count = counter(registry);
    for (let index = 0; index < COUNT; index++) count(`name-${index}`);
    count("x".repeat(1024 * 1024));
    const { families } = await registry.exportSnapshot();
    const named = families.map(({ samples }) => new Set(samples.map(({ labels }) => labelled(labels))));
    const most = Math.max(...named.map(({ size }) => size));
    assert.equal(most, 257, "the first ones, and one for all others");
    assert.ok(named.every((values) => [...values].every((value) => value.length < 1000)));
    assert.ok(named.some((values) => [...values].some((value) => value.includes("name-0"))));
  });
}

/** Without the bounds of buckets. */
function labelled(labels: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...labels, le: undefined });
}
