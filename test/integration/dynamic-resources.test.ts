// Dynamic resource allocation on the whole kubelet: an API server, a driver's plugin on real sockets, and a fake runtime, which keeps the
// CDI devices of each container: Debian 12's containerd knows none.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { PodStatus } from "../../src/shared/api/pod-status.js";
import { systemClock } from "../../src/shared/clock/clock.js";
import { PluginConnection } from "../../src/shared/plugins/connection.js";
import { PodResourcesListerService } from "../../src/shared/plugins/gen/podresources.v1.js";
import type { Fields } from "../fake-api/fake-api.js";
import { startFakeCri, type FakeCri } from "../fake-cri/fake-cri.js";
import { testImage } from "../harness/node.js";
import { boundPod, NODE_NAME } from "../support/cluster-node.js";
import { TestDraDriver } from "../support/dra/driver.js";
import {
  PATIENCE_MS,
  settled,
  startFaultyCluster,
  still,
  unready,
  type FaultyCluster,
} from "../support/faulty-cluster.js";

const DRIVER = "gpu.example.com";

describe("dynamic resources", () => {
  let dir: string;
  let fake: FakeCri;
  let cluster: FaultyCluster;
  let driver: TestDraDriver;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nodelet-dra-"));
    fake = await startFakeCri({ socketPath: join(dir, "cri.sock"), images: [testImage()] });
    cluster = await startFaultyCluster({ node: { config: { containerRuntimeEndpoint: fake.endpoint } } });
    driver = await TestDraDriver.start({ name: DRIVER, rootDir: cluster.node.kubelet.rootDir });
    await settled("the driver to be registered", () =>
      driver.statuses.some(({ pluginRegistered }) => pluginRegistered) ? "" : JSON.stringify(driver.statuses),
    );
  });
  after(async () => {
    await driver.stop();
    await cluster.stop();
    await fake.stop();
    await rm(dir, { recursive: true });
  });

  test("a claim is prepared before the PodSandbox, its device is in the container, and it is unprepared at the end", async () => {
    put("a", claiming("first"));
    claim("first", "a");
    await settled("the pod", () => unready(cluster.fixture, ["a"]));
    assert.deepEqual(devices("a"), [driver.cdiDevice("first")]);
    assert.deepEqual(driver.calls, ["prepare first"]);
    await cluster.api.delete("pods", "default", "a", { gracePeriodSeconds: 1 });
    await settled("its end", () => still(cluster.fixture, ["a"]));
    assert.deepEqual(driver.calls, ["prepare first", "unprepare first"]);
  });

  test("a pod waits for a claim that is not reserved for it, with upstream's event", async () => {
    put("b", claiming("waiting"));
    claim("waiting", "another");
    await settled("the event", () =>
      eventOf("b", "FailedPrepareDynamicResources", /not allowed to use ResourceClaim waiting/),
    );
    claim("waiting", "b");
    await settled("the pod", () => unready(cluster.fixture, ["b"]));
    await cluster.api.delete("pods", "default", "b", { gracePeriodSeconds: 1 });
    await settled("its end", () => still(cluster.fixture, ["b"]));
  });

  test("the health that a driver reports is in the container's status, and its devices in the pod resources service", async () => {
    driver.health.set("watched", { healthy: true });
    driver.reportHealth();
    put("h", claiming("watched"));
    claim("watched", "h");
    await settled("the pod", () => unready(cluster.fixture, ["h"]));
    const resourceID = driver.cdiDevice("watched");
    await settled("Healthy", () => shownHealth("h", [{ resourceID, health: "Healthy" }]));
    driver.health.set("watched", { healthy: false, message: "it is too hot" });
    driver.reportHealth();
    await settled("Unhealthy", () => shownHealth("h", [{ resourceID, health: "Unhealthy", message: "it is too hot" }]));

    using service = new PluginConnection(`${cluster.node.kubelet.rootDir}/pod-resources/kubelet.sock`, systemClock);
    const { podResources } = await service.call(
      PodResourcesListerService.get,
      { podName: "h", podNamespace: "default" },
      { timeoutMs: PATIENCE_MS, waitForReady: true },
    );
    assert.deepEqual(
      podResources?.containers.flatMap(({ dynamicResources }) => dynamicResources),
      [
        {
          ...{ claimName: "watched", claimNamespace: "default" },
          claimResources: [
            {
              ...{ driverName: DRIVER, poolName: "pool", deviceName: "watched", shareId: undefined },
              cdiDevices: [{ name: resourceID }],
            },
          ],
        },
      ],
    );
    await cluster.api.delete("pods", "default", "h", { gracePeriodSeconds: 1 });
    await settled("its end", () => still(cluster.fixture, ["h"]));
  });

  test("kill -9: the next kubelet keeps the pod and its devices, and unprepares the claim of a pod that is gone", async () => {
    put("c", claiming("kept"));
    claim("kept", "c");
    await settled("the pod", () => unready(cluster.fixture, ["c"]));
    driver.calls.length = 0;
    await cluster.node.kill9();
    await cluster.node.restart();
    await settled("the pod is Ready still", () => unready(cluster.fixture, ["c"]));
    await cluster.api.delete("pods", "default", "c", { gracePeriodSeconds: 1 });
    await settled("its end", () => still(cluster.fixture, ["c"]));
    assert.equal(driver.calls.at(-1), "unprepare kept");
  });

  test("a driver that is gone keeps the pod waiting until it is back", async () => {
    await driver.stop();
    put("d", claiming("late"));
    claim("late", "d");
    await settled("the event", () =>
      eventOf("d", "FailedPrepareDynamicResources", /DRA driver gpu\.example\.com is not registered/),
    );
    await driver.start();
    await settled("the pod", () => unready(cluster.fixture, ["d"]));
    await cluster.api.delete("pods", "default", "d", { gracePeriodSeconds: 1 });
    await settled("its end", () => still(cluster.fixture, ["d"]));
  });

  test("ResourceSlices of the node are deleted when a kubelet starts", { timeout: 2 * PATIENCE_MS }, async () => {
    cluster.fixture.store.put("resourceslices", {
      metadata: { name: "slice" },
      spec: { nodeName: NODE_NAME, driver: DRIVER, pool: { name: NODE_NAME, generation: 1, resourceSliceCount: 1 } },
    });
    await cluster.node.restart();
    await settled("its deletion", () =>
      cluster.fixture.store.get("resourceslices", "", "slice") === undefined ? "" : "the slice is there",
    );
  });

  function put(name: string, pod: Fields): void {
    cluster.fixture.store.put("pods", { ...pod, metadata: { name } });
  }

  /** Allocated by the driver, and reserved for the pod, as the scheduler does it. */
  function claim(name: string, user: string): void {
    const { fixture } = cluster;
    const uid = fixture.store.get("pods", "default", user)?.metadata.uid ?? "none";
    fixture.store.put("resourceclaims", {
      metadata: { name, namespace: "default" },
      spec: { devices: { requests: [{ name: "one", exactly: { deviceClassName: "gpu" } }] } },
      status: {
        allocation: { devices: { results: [{ request: "one", driver: DRIVER, pool: "pool", device: name }] } },
        reservedFor: [{ resource: "pods", name: user, uid }],
      },
    });
  }

  /** "" when the pod's container shows exactly these resources of its claim. */
  function shownHealth(pod: string, resources: readonly object[]): string {
    const { status } = (cluster.fixture.store.get("pods", "default", pod) ?? {}) as { status?: PodStatus };
    const shown = status?.containerStatuses?.[0]?.allocatedResourcesStatus;
    return isDeepStrictEqual(shown, [{ name: "claim:gpu", resources }]) ? "" : JSON.stringify(shown);
  }

  /** CDI devices of the newest container of the pod. */
  function devices(pod: string): string[] {
    const created = fake.calls
      .filter(({ verb }) => verb === "CreateContainer")
      .map(({ request }) => request as Created);
    const last = created.findLast(({ sandboxConfig }) => sandboxConfig?.metadata?.name === pod);
    return (last?.config?.CDIDevices ?? []).map(({ name }) => name);
  }

  async function eventOf(pod: string, reason: string, message: RegExp): Promise<string> {
    const { items } = await cluster.api.list("events", "default", { fieldSelector: `involvedObject.name=${pod}` });
    const seen = items.map((event) => `${String(event["reason"])}: ${String(event["message"])}`);
    return seen.some((line) => line.startsWith(reason) && message.test(line)) ? "" : seen.join("; ");
  }
});

interface Created {
  config?: { CDIDevices?: { name: string }[] };
  sandboxConfig?: { metadata?: { name?: string } };
}

function claiming(claim: string): Fields {
  return boundPod("", "", {
    resourceClaims: [{ name: "gpu", resourceClaimName: claim }],
    containers: [
      {
        ...{ name: "app", image: testImage(), imagePullPolicy: "Never", command: ["sleep", "3600"] },
        resources: { claims: [{ name: "gpu" }] },
      },
    ],
  });
}
