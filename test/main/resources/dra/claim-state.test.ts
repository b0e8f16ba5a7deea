// A container's claims in the pod status and in the pod resources service.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { listedClaims } from "../../../../src/main/node/pod-resources/listed-devices.js";
import { claimHealth, listedClaim } from "../../../../src/main/resources/dra/claim-health.js";
import { type ClaimState, type PreparedDevice } from "../../../../src/main/resources/dra/claim-state.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";

const GPU = "gpu.example.com";

function device(name: string, change: Partial<PreparedDevice> = {}): PreparedDevice {
  return { pool: "p", device: name, requests: [], cdiDevices: [`example.com/gpu=${name}`], ...change };
}

function claim(devices: readonly PreparedDevice[]): ClaimState {
  return {
    ...{ uid: podUid("u"), name: "claim-1", namespace: "default", pods: new Set([podUid("pod")]), prepared: true },
    drivers: new Map([[GPU, devices]]),
  };
}

describe("allocatedResourcesStatus of claims", () => {
  const view = {
    healthOf: (_driver: string, { device: name }: { device: string }) =>
      name === "hot"
        ? ({ health: "Unhealthy", message: "too hot" } as const)
        : ({ health: "Healthy", message: "" } as const),
    messages: true,
  };
  const of = (devices: readonly PreparedDevice[], request = "", messages = true) =>
    claimHealth([{ podName: "gpu", request, state: claim(devices) }], { ...view, messages });

  test("a claim is named by the pod's name for it, a request of it behind a slash", () => {
    const resources = [{ resourceID: "example.com/gpu=a", health: "Healthy" }];
    assert.deepEqual(of([device("a")]), [{ name: "claim:gpu", resources }]);
    assert.deepEqual(of([device("a")], "one"), [{ name: "claim:gpu/one", resources }]);
  });

  test("a message is shown with its gate only", () => {
    assert.equal(of([device("hot")])[0]?.resources[0]?.message, "too hot");
    assert.deepEqual(of([device("hot")], "", false)[0]?.resources, [
      { resourceID: "example.com/gpu=hot", health: "Unhealthy" },
    ]);
  });

  test("a device without a CDI name is named by driver, pool and device", () => {
    assert.equal(of([device("a", { cdiDevices: [] })])[0]?.resources[0]?.resourceID, `${GPU}/p/a`);
  });

  test("devices with the same id are shown once, the first of them", () => {
    const [shown] = of([device("hot", { cdiDevices: ["x"] }), device("a", { cdiDevices: ["x"] })]);
    assert.deepEqual(shown?.resources, [{ resourceID: "x", health: "Unhealthy", message: "too hot" }]);
  });

  test("a request has its own devices, those of its subrequests, and those that serve every request", () => {
    const devices = [device("a", { requests: ["one"] }), device("b", { requests: ["two"] }), device("c")];
    const ids = (request: string) => of(devices, request)[0]?.resources.map(({ resourceID }) => resourceID.slice(-1));
    assert.deepEqual([ids("one"), ids("two/sub"), ids("three")], [["a", "c"], ["b", "c"], ["c"]]);
  });

  test("a claim without devices is not shown", () => {
    assert.deepEqual(of([]), []);
  });
});

describe("dynamic_resources of the pod resources service", () => {
  const { spec, ...rest } = pod();
  const [app] = spec.containers;

  test("each device is listed with its driver, pool and CDI devices", () => {
    assert.ok(app);
    const listed = listedClaims(() => ({
      listed: () => [listedClaim(claim([device("a", { shareId: "s" }), device("b", { cdiDevices: [] })]))],
    }));
    assert.deepEqual(listed({ ...rest, spec }, app), [
      {
        claimName: "claim-1",
        claimNamespace: "default",
        claimResources: [
          {
            ...{ driverName: GPU, poolName: "p", deviceName: "a", shareId: "s" },
            cdiDevices: [{ name: "example.com/gpu=a" }],
          },
          { driverName: GPU, poolName: "p", deviceName: "b", shareId: undefined, cdiDevices: [] },
        ],
      },
    ]);
  });

  test("before the kubelet has joined a cluster there are none", () => {
    assert.ok(app);
    assert.deepEqual(listedClaims(() => undefined)({ ...rest, spec }, app), []);
  });
});
