// Dynamic resource allocation with real containers: the runtime adds the device that a driver prepared by its CDI name.
// Needs a runtime with CDI: NODELET_CONTAINERD=newest.

import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { testImage } from "../harness/node.js";
import { boundPod } from "../support/cluster-node.js";
import { allocatedClaim } from "../support/dra/claim.js";
import { TestDraDriver } from "../support/dra/driver.js";
import { settled, startFaultyCluster, still, unready, type FaultyCluster } from "../support/faulty-cluster.js";

const DRIVER = "gpu.example.com";
const CDI_DIR = process.env["NODELET_TEST_CDI_DIR"];
const skip = CDI_DIR === undefined ? "the runtime has no CDI: set NODELET_CONTAINERD=newest" : false;
const REPORT = 'echo "$GPU $(head -c 4 /dev/gpu | wc -c)" > /out/$NAME; exec sleep 3600';

describe("devices of claims in containers", { skip }, () => {
  let cluster: FaultyCluster;
  let driver: TestDraDriver;
  let out: string;

  before(async () => {
    cluster = await startFaultyCluster();
    const { rootDir, dir } = cluster.node.kubelet;
    out = join(dir, "out");
    await mkdir(out);
    driver = await TestDraDriver.start({ name: DRIVER, rootDir, ...(CDI_DIR !== undefined && { cdiDir: CDI_DIR }) });
    await settled("the driver to be registered", () =>
      driver.statuses.some(({ pluginRegistered }) => pluginRegistered) ? "" : JSON.stringify(driver.statuses),
    );
  });
  after(async () => {
    await driver.stop();
    await cluster.stop();
  });

  test("only the containers that name the claim have its device, after kill -9 of the kubelet and a restart too", async () => {
    const { fixture } = cluster;
    fixture.store.put("pods", { ...twoContainers("first"), metadata: { name: "a" } });
    fixture.store.put("resourceclaims", allocatedClaim(fixture, { name: "first", user: "a", driver: DRIVER }));
    await settled("the pod", () => unready(fixture, ["a"]));
    await reports("with", "first 4\n");
    await reports("without", " 0\n");

    await cluster.node.kill9();
    await cluster.node.restart();
    await settled("the pod is Ready still", () => unready(fixture, ["a"]));
    assert.deepEqual([...driver.prepared], ["first"]);
    await cluster.api.delete("pods", "default", "a", { gracePeriodSeconds: 1 });
    await settled("its end", () => still(fixture, ["a"]));
    assert.deepEqual([...driver.prepared], []);
  });

  /** A container is Ready before it has written its line. */
  async function reports(container: string, line: string): Promise<void> {
    await settled(`the report of ${container}`, async () => {
      const text = await readFile(join(out, container), "utf8").catch(() => "");
      return text === line ? "" : JSON.stringify(text);
    });
  }

  function twoContainers(claim: string): ReturnType<typeof boundPod> {
    const container = (name: string, claims: readonly object[]) => ({
      ...{ name, image: testImage(), imagePullPolicy: "Never", command: ["sh", "-c", REPORT] },
      env: [{ name: "NAME", value: name }],
      resources: { claims },
      volumeMounts: [{ name: "out", mountPath: "/out" }],
    });
    return boundPod("", "", {
      resourceClaims: [{ name: "gpu", resourceClaimName: claim }],
      containers: [container("with", [{ name: "gpu" }]), container("without", [])],
      volumes: [{ name: "out", hostPath: { path: out } }],
    });
  }
});
