import assert from "node:assert/strict";
import { test } from "node:test";
import { watchNode } from "../../../src/main/kubelet/node-metrics.js";
import { podMetrics } from "../../../src/main/pods/sync/metrics.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";

// https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/kubelet/kubelet_pods.go (HandlePodCleanups)
test("kubelet_working_pods has a series for each valid combination of labels, also when the node has no pods", async () => {
  const registry = new ThreadRegistry("main");
  watchNode(registry, podMetrics(registry), {
    cache: { all: () => [].values(), staleRecords: 0 },
    pods: { all: () => [].values() },
    records: { usage: { bytes: 0, unsaved: 0 } },
  });
  const { families } = await registry.exportSnapshot();
  const { samples } = families.find(({ name }) => name === "kubelet_working_pods") ?? { samples: [] };
  const series = samples.map(
    ({ value, labels }) => `${labels["config"]} ${labels["static"]} ${labels["lifecycle"]} ${value}`,
  );
  const lifecycles = (labels: string): string[] =>
    ["sync", "terminated", "terminating"].map((one) => `${labels} ${one} 0`);
  const valid = ["desired ", "desired true", "orphan ", "orphan true", "runtime_only unknown"];
  assert.deepEqual(series.toSorted(), valid.flatMap(lifecycles).toSorted());
});
