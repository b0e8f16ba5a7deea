import assert from "node:assert/strict";
import { test } from "node:test";
import { draMetrics } from "../../../../src/main/resources/dra/metrics.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";

// https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/kubelet/metrics/metrics.go (DRASubsystem)
test("metrics of ResourceClaims have upstream's names; the number of claims of any driver begins at 0", async () => {
  const registry = new ThreadRegistry("main");
  draMetrics(registry, () => []);
  const { families } = await registry.exportSnapshot();
  assert.deepEqual(families.map(({ name }) => name).toSorted(), [
    "dra_grpc_operations_duration_seconds",
    "dra_operations_duration_seconds",
    "dra_resource_claims_in_use",
  ]);
  const inUse = families.find(({ name }) => name === "dra_resource_claims_in_use");
  assert.deepEqual(inUse?.samples, [{ value: 0, labels: { driver_name: "<any>" } }]);
});
