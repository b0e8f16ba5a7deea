// Dynamic resource allocation on the whole kubelet, with an API server and a driver's plugin on real sockets. The
// runtime is a fake that records the CDI devices of each container, because Debian 12's containerd has no CDI.
// @promise Resources of the node: ResourceClaims are prepared before the PodSandbox and unprepared at the pod's end,
//   before its final status, also by the next kubelet after kill -9; a pod whose claims cannot be prepared waits with
//   an event; the health that a driver reports is in the container's status.
// @with test/integration/dynamic-resources-containers.test.ts, test/faults/dynamic-resources.test.ts,
//   test/main/resources/dra
// @promise Resources of the node: Gate DRAWorkloadResourceClaims: a claim of the pod's PodGroup, or reserved for it, is
//   prepared once for the pods of the group; pods of other groups wait with an event.
// @with test/main/resources/dra/claims.test.ts

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import type { PodStatus } from "../../src/shared/kubernetes/api/pod-status.js";
import { PluginConnection } from "../../src/shared/kubernetes/plugins/connection.js";
import { PodResourcesListerService } from "../../src/shared/kubernetes/plugins/gen/podresources.v1.js";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { DraCluster } from "../support/dra/cluster.js";
import type { TestDraDriver } from "../support/dra/driver.js";
import { PATIENCE_MS, settled, still, unready, type FaultyCluster } from "../support/faulty-cluster.js";

describe("dynamic resources", () => {
  let dra: DraCluster;
  let cluster: FaultyCluster;
  let driver: TestDraDriver;

  before(async () => {
    dra = await DraCluster.start();
    ({ cluster, driver } = dra);
  });
  after(() => dra.stop());

  test("a claim is prepared before the PodSandbox, its device is in the container, and it is unprepared at the end", async () => {
    dra.put("a", "first");
    dra.claim("first", "a");
    await settled("the pod", () => unready(cluster.fixture, ["a"]));
    assert.deepEqual(dra.devices("a"), [driver.cdiDevice("first")]);
    assert.deepEqual(driver.calls, ["prepare first"]);
    await cluster.api.delete("pods", "default", "a", { gracePeriodSeconds: 1 });
    await settled("its end", () => still(cluster.fixture, ["a"]));
    assert.deepEqual(driver.calls, ["prepare first", "unprepare first"]);
  });

  test("a pod waits for a claim that is not reserved for it, with upstream's event", async () => {
    dra.put("b", "waiting");
    dra.claim("waiting", "another");
    await settled("the event", () =>
      dra.eventOf("b", "FailedPrepareDynamicResources", /not allowed to use ResourceClaim waiting/),
    );
    dra.claim("waiting", "b");
    await settled("the pod", () => unready(cluster.fixture, ["b"]));
    await cluster.api.delete("pods", "default", "b", { gracePeriodSeconds: 1 });
    await settled("its end", () => still(cluster.fixture, ["b"]));
  });

  test("a claim that is reserved for a PodGroup is prepared once for its pods, and unprepared with the last", async () => {
    driver.calls.length = 0;
    dra.groupClaim("of-group", "workers");
    dra.putInGroup("g1", "of-group", "workers");
    dra.putInGroup("g2", "of-group", "workers");
    dra.putInGroup("alien", "of-group", "others");
    await settled("the pods", () => unready(cluster.fixture, ["g1", "g2"]));
    assert.deepEqual([dra.devices("g1"), dra.devices("g2")], Array(2).fill([driver.cdiDevice("of-group")]));
    await settled("the event", () =>
      dra.eventOf("alien", "FailedPrepareDynamicResources", /not allowed to use ResourceClaim of-group/),
    );
    for (const name of ["alien", "g1", "g2"]) {
      assert.deepEqual(driver.calls, ["prepare of-group"]);
      await cluster.api.delete("pods", "default", name, { gracePeriodSeconds: 1 });
      await settled("its end", () => still(cluster.fixture, [name]));
    }
    assert.deepEqual(driver.calls, ["prepare of-group", "unprepare of-group"]);
  });

  test("the health that a driver reports is in the container's status, and its devices in the pod resources service", async () => {
    driver.health.set("watched", { healthy: true });
    driver.reportHealth();
    dra.put("h", "watched");
    dra.claim("watched", "h");
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
              ...{ driverName: driver.name, poolName: "pool", deviceName: "watched", shareId: undefined },
              cdiDevices: [{ name: resourceID }],
            },
          ],
        },
      ],
    );
    await cluster.api.delete("pods", "default", "h", { gracePeriodSeconds: 1 });
    await settled("its end", () => still(cluster.fixture, ["h"]));
  });

  test("kill -9: the next kubelet keeps the pod and its devices, and unprepares the claim of a removed pod", async () => {
    dra.put("c", "kept");
    dra.claim("kept", "c");
    await settled("the pod", () => unready(cluster.fixture, ["c"]));
    driver.calls.length = 0;
    await cluster.node.kill9();
    await cluster.node.restart();
    await settled("the pod is Ready still", () => unready(cluster.fixture, ["c"]));
    await cluster.api.delete("pods", "default", "c", { gracePeriodSeconds: 1 });
    await settled("its end", () => still(cluster.fixture, ["c"]));
    assert.equal(driver.calls.at(-1), "unprepare kept");
  });

  test("a pod waits while its driver is unregistered", async () => {
    await driver.stop();
    dra.put("d", "late");
    dra.claim("late", "d");
    await settled("the event", () =>
      dra.eventOf("d", "FailedPrepareDynamicResources", /DRA driver gpu\.example\.com is not registered/),
    );
    await driver.start();
    await settled("the pod", () => unready(cluster.fixture, ["d"]));
    await cluster.api.delete("pods", "default", "d", { gracePeriodSeconds: 1 });
    await settled("its end", () => still(cluster.fixture, ["d"]));
  });

  test(
    "ResourceSlices of the node are deleted when a kubelet starts",
    { timeout: 2 * PATIENCE_MS * PATIENCE },
    async () => {
      dra.slice("slice");
      await cluster.node.restart();
      await settled("its deletion", () =>
        cluster.fixture.store.get("resourceslices", "", "slice") === undefined ? "" : "the slice is there",
      );
    },
  );

  /** "" when the pod's container shows exactly these resources of its claim. */
  function shownHealth(pod: string, resources: readonly object[]): string {
    const { status } = (cluster.fixture.store.get("pods", "default", pod) ?? {}) as { status?: PodStatus };
    const shown = status?.containerStatuses?.[0]?.allocatedResourcesStatus;
    return isDeepStrictEqual(shown, [{ name: "claim:gpu", resources }]) ? "" : JSON.stringify(shown);
  }
});

test("the health of a driver's devices comes from v1.DRAResourceHealth where the driver names it", async (t) => {
  const dra = await DraCluster.start("v1.DRAResourceHealth");
  t.after(() => dra.stop());
  const { driver, cluster } = dra;
  driver.health.set("watched", { healthy: false, message: "it is too hot" });
  driver.reportHealth();
  dra.put("h", "watched");
  dra.claim("watched", "h");
  await settled("Unhealthy", () => {
    const text = JSON.stringify(cluster.fixture.store.get("pods", "default", "h")?.status ?? {});
    return text.includes('"health":"Unhealthy"') ? "" : text;
  });
});
