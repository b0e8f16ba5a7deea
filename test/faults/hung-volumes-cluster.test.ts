// A node with 400 volumes whose servers never respond keeps working. The mounts and the API server are real; the
// runtime is a fake, because 400 real PodSandboxes would take minutes. test/hostile has the same attack with real
// containers and fewer mounts.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Lease } from "../../src/shared/kubernetes/api/gen/coordination.js";
import type { Summary } from "../../src/workers/server/stats/summary/types.js";
import type { Fields } from "../fake-api/fake-api.js";
import { startFakeCri, type FakeCri } from "../fake-cri/fake-cri.js";
import { testImage } from "../harness/node.js";
import { boundPod, NODE_NAME } from "../support/cluster-node.js";
import {
  isNodeReady,
  settled,
  startFaultyCluster,
  still,
  unready,
  type FaultyCluster,
} from "../support/faulty-cluster.js";
import { canHang, HungMounts } from "../support/hung-mounts.js";

const COUNT = 400;
const NAMES = Array.from({ length: COUNT }, (_, index) => `hung-${index}`);
const PROBED = "probed";
/** Probes of each kind, and renewals of the lease, that a test waits for. */
const ROUNDS = 5;
const LIMIT_MS = 300_000;
/** Most sandboxes of pods that wait for their volumes. Pods that start meanwhile come before all others. */
const MOST_SANDBOXES = COUNT / 4;

describe(`${COUNT} volumes that never respond`, { skip: canHang ? false : "needs root and /dev/fuse" }, () => {
  let dir: string;
  let fake: FakeCri;
  let cluster: FaultyCluster;
  let target: Server;
  const mounts = new HungMounts();
  const arrived = { http: 0, exec: 0 };

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nodelet-hung-volumes-"));
    target = createServer((_, response) => {
      arrived.http++;
      response.end("ok");
    }).listen(0, "127.0.0.1");
    const exec = () => {
      arrived.exec++;
      return {};
    };
    fake = await startFakeCri({ socketPath: join(dir, "cri.sock"), images: [testImage()], recordCalls: false, exec });
    const config = {
      containerRuntimeEndpoint: fake.endpoint,
      ...{ maxPods: COUNT + 10, nodeLeaseDurationSeconds: 20, nodeStatusUpdateFrequency: "2s" },
    };
    cluster = await startFaultyCluster({ node: { config } });
    for (const name of NAMES) await mounts.hang(join(dir, name));
    for (const name of NAMES) put(name, onVolume(name, join(dir, name)));
    await settled("an event that names a mount that never answers", async () => {
      const { items } = await cluster.api.list("events", "default");
      return items.some(({ message }) => String(message).includes("has not responded since")) ? "" : "no such event";
    });
  });
  after(async () => {
    await mounts.releaseAll();
    await cluster.stop();
    await fake.stop();
    target.close();
    await rm(dir, { recursive: true });
  });

  test("a pod beside them starts, becomes Ready and is probed on", { timeout: LIMIT_MS }, async () => {
    put(PROBED, probedPod((target.address() as AddressInfo).port));
    await settled("the pod beside them", () => unready(cluster.fixture, [PROBED]));
    const waiting = sandboxesOf(/^hung-/);
    assert.ok(waiting <= MOST_SANDBOXES, `${waiting} PodSandboxes were created before it was Ready`);
    for (const kind of ["http", "exec"] as const) {
      const before = arrived[kind];
      await settled(`${kind} probes`, () =>
        arrived[kind] >= before + ROUNDS ? "" : `${arrived[kind] - before} arrived`,
      );
    }
    assert.equal(unready(cluster.fixture, [PROBED]), "");
  });

  test("the lease is renewed, and the node stays Ready", { timeout: LIMIT_MS }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const renewed = renewTime();
      await settled("the lease's renewal", () =>
        renewTime() === renewed ? `last renewed at ${renewed ?? "never"}` : "",
      );
      assert.ok(isNodeReady(cluster.fixture), "the node is Ready");
    }
  });

  test("the server responds with all pods and with the summary", { timeout: LIMIT_MS }, async () => {
    const { kubelet } = cluster.node;
    const { items } = (await (await fetch(`${kubelet.url}/pods`)).json()) as { items: unknown[] };
    assert.equal(items.length, COUNT + 1);
    const summary = (await (await fetch(`${kubelet.url}/stats/summary`)).json()) as Summary;
    assert.ok((summary.node.fs?.capacityBytes ?? 0) > 0, "the summary has the node's file system");
  });

  test("pods that wait for them are deleted, and another pod starts and ends", { timeout: LIMIT_MS }, async () => {
    const { fixture, api } = cluster;
    await Promise.all(NAMES.map((name) => api.delete("pods", "default", name)));
    put("late", boundPod("late", ""));
    await settled("a pod that starts meanwhile", () => unready(fixture, ["late"]));
    await settled("the deleted pods", () => still(fixture, NAMES));
    await api.delete("pods", "default", "late", { gracePeriodSeconds: 1 });
    await settled("the pod's end", () => still(fixture, ["late"]));
    assert.equal(unready(fixture, [PROBED]), "");
  });

  function put(name: string, pod: Fields): void {
    cluster.fixture.store.put("pods", { ...pod, metadata: { name } });
  }

  function sandboxesOf(name: RegExp): number {
    return [...fake.state.sandboxes.values()].filter(({ config }) => name.test(config.metadata?.name ?? "")).length;
  }

  function renewTime(): string | null | undefined {
    const lease = cluster.fixture.store.get("leases", "kube-node-lease", NODE_NAME) as Lease | undefined;
    return lease?.spec?.renewTime;
  }
});

const APP = { name: "app", image: testImage(), imagePullPolicy: "Never", command: ["sleep", "3600"] };

function onVolume(name: string, path: string): Fields {
  return boundPod(name, "", {
    volumes: [{ name: "data", hostPath: { path, type: "Directory" } }],
    containers: [{ ...APP, volumeMounts: [{ name: "data", mountPath: "/data" }] }],
  });
}

/** `port`: of the server on loopback that takes the place of the pod's. */
function probedPod(port: number): Fields {
  const often = { periodSeconds: 1, timeoutSeconds: 5 };
  return boundPod(PROBED, "", {
    containers: [
      {
        ...APP,
        readinessProbe: { httpGet: { host: "127.0.0.1", port }, ...often },
        livenessProbe: { exec: { command: ["true"] }, ...often },
      },
    ],
  });
}
