// status.resources: values of the runtime, values set last, and allocated values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { containerResources } from "../../../../src/main/pods/status/container-resources.js";
import type { ResourceRequirements } from "../../../../src/shared/kubernetes/api/pod.js";
import {
  ContainerState,
  ContainerStatus,
  LinuxContainerResources,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { observedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { container } from "../../../support/pods.js";

const OLD = { limits: { cpu: "100m", memory: "64Mi" }, requests: { cpu: "100m", memory: "64Mi" } };
const NEW = { limits: { cpu: "200m", memory: "128Mi" }, requests: { cpu: "200m", memory: "128Mi" } };
const MI = 1024n * 1024n;

interface Row {
  allocated?: ResourceRequirements;
  actuated?: ResourceRequirements;
  state?: ContainerState;
  linux?: Partial<LinuxContainerResources>;
  expected: ResourceRequirements;
}

const table: Record<string, Row> = {
  "running, the runtime tells nothing: what was given": { allocated: NEW, actuated: OLD, expected: OLD },
  "running, nothing is known: what is allocated": { allocated: NEW, expected: NEW },
  "not running: what is allocated": {
    allocated: NEW,
    actuated: OLD,
    state: ContainerState.CONTAINER_EXITED,
    linux: { memoryLimitInBytes: MI },
    expected: NEW,
  },
  "the runtime has what was given: in its own words": {
    allocated: OLD,
    actuated: { limits: { cpu: "0.1", memory: "65536Ki" }, requests: OLD.requests },
    linux: { cpuShares: 102n, cpuQuota: 10_000n, cpuPeriod: 100_000n, memoryLimitInBytes: 64n * MI },
    expected: { limits: { cpu: "0.1", memory: "65536Ki" }, requests: OLD.requests },
  },
  "the runtime has something else": {
    allocated: NEW,
    actuated: NEW,
    linux: { cpuShares: 512n, cpuQuota: 30_000n, cpuPeriod: 100_000n, memoryLimitInBytes: 96n * MI },
    expected: { limits: { cpu: "300m", memory: "96Mi" }, requests: { cpu: "500m", memory: "128Mi" } },
  },
  "the least shares and quota keep what was asked": {
    allocated: { limits: { cpu: "5m" }, requests: { cpu: "1m" } },
    linux: { cpuShares: 2n, cpuQuota: 1000n, cpuPeriod: 100_000n },
    expected: { limits: { cpu: "5m" }, requests: { cpu: "1m" } },
  },
  "the pod's limits are not those of a container without limits": {
    allocated: { requests: { cpu: "50m" } },
    linux: { cpuShares: 51n, cpuQuota: 20_000n, cpuPeriod: 100_000n, memoryLimitInBytes: 128n * MI },
    expected: { requests: { cpu: "50m" } },
  },
  "a container with a limit shows the pod's limit of the other resource": {
    allocated: { limits: { memory: "32Mi" } },
    linux: { cpuShares: 2n, cpuQuota: 20_000n, cpuPeriod: 100_000n, memoryLimitInBytes: 32n * MI },
    expected: { limits: { cpu: "200m", memory: "32Mi" } },
  },
  "other resources are those of the definition": {
    allocated: { limits: { "hugepages-2Mi": "2Mi", cpu: "1" } },
    actuated: { limits: { cpu: "2" } },
    expected: { limits: { "hugepages-2Mi": "2Mi", cpu: "2" } },
  },
  "nothing asked, nothing told": { linux: { cpuShares: 2n }, expected: {} },
  "nothing asked, not running": { state: ContainerState.CONTAINER_EXITED, expected: {} },
};
for (const [name, { allocated, actuated, state, linux, expected }] of Object.entries(table)) {
  test(name, () => {
    const observed = observedContainer(
      ContainerStatus.fromPartial({
        state: state ?? ContainerState.CONTAINER_RUNNING,
        ...(linux && { resources: { linux: LinuxContainerResources.fromPartial(linux) } }),
      }),
    );
    const given = container("app", allocated && { resources: allocated });
    assert.deepEqual(containerResources(given, observed, actuated), expected);
  });
}

test("a container that runs with what is allocated shows the list itself, however long it is", () => {
  const limits = { "example.com/a": "1", cpu: "1" };
  const observed = observedContainer(ContainerStatus.fromPartial({ state: ContainerState.CONTAINER_RUNNING }));
  const given = container("app", { resources: { limits, requests: limits } });
  assert.equal(containerResources(given, observed, undefined), given.resources);
  assert.equal(containerResources(given, observed, { limits: { cpu: "1" }, requests: { cpu: "1" } }), given.resources);
});
